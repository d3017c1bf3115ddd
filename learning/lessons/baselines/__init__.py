"""The eight ways of teaching that failed, kept as baselines for `vidya bench collapse`.

They are the attempts of a predecessor of 49M weights: each moves all weights on the lesson alone,
without replay and without a guard. Never a default. To add one: a file with a class that has
`learn`, and its line in ATTEMPTS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.model import Model
from learning.data.examples import Example
from learning.lessons.baselines.combined import Combined
from learning.lessons.baselines.common import Attempt
from learning.lessons.baselines.conversation import ConversationSteps
from learning.lessons.baselines.elastic import ElasticSteps
from learning.lessons.baselines.preference import ContrastiveElastic, MovingReferenceDPO
from learning.lessons.baselines.single_steps import SingleSteps
from learning.lessons.baselines.threshold import ThresholdSteps
from learning.lessons.baselines.warm_adam import WarmAdamSteps
from learning.protocol.methods import METHODS

Make = Callable[[Model, Sequence[Example]], Attempt]


@dataclass(frozen=True)
class Named:
    """An attempt that can be chosen."""

    number: int
    """Which of the eight; some were tried at several strengths."""
    what: str
    """One line for tables and settings."""
    make: Make
    """From the model to teach, as the book left it, and the book."""


ATTEMPTS: dict[str, Named] = {
    "single-1e-4": Named(1, METHODS["single-1e-4"], lambda m, _: SingleSteps(m, 1e-4)),
    "single-5e-5": Named(1, METHODS["single-5e-5"], lambda m, _: SingleSteps(m, 5e-5)),
    "single-1e-5": Named(1, METHODS["single-1e-5"], lambda m, _: SingleSteps(m, 1e-5)),
    "repeats": Named(2, METHODS["repeats"], lambda m, _: SingleSteps(m, 1e-5, 4)),
    "warm-adam": Named(3, METHODS["warm-adam"], WarmAdamSteps),
    "threshold": Named(4, METHODS["threshold"], lambda m, _: ThresholdSteps(m)),
    "elastic-0.02": Named(5, METHODS["elastic-0.02"], lambda m, _: ElasticSteps(m, 0.02)),
    "elastic-0.01": Named(5, METHODS["elastic-0.01"], lambda m, _: ElasticSteps(m, 0.01)),
    "elastic-0.1": Named(5, METHODS["elastic-0.1"], lambda m, _: ElasticSteps(m, 0.1)),
    "dpo-moving": Named(6, METHODS["dpo-moving"], lambda m, _: MovingReferenceDPO(m)),
    "contrastive": Named(6, METHODS["contrastive"], lambda m, _: ContrastiveElastic(m)),
    "conversation": Named(7, METHODS["conversation"], lambda m, _: ConversationSteps(m)),
    "combined": Named(8, METHODS["combined"], Combined),
}
"""Name -> attempt."""

__all__ = ["ATTEMPTS", "Attempt", "Named"]
