"""Eight teaching methods that failed, kept as baselines for `vidya bench collapse`.

They come from a predecessor with 49M weights: each trains all weights on the lesson alone, without replay
and without a guard. The program itself cannot use them. To add one, write a class with `learn` and add a
line to ATTEMPTS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.baselines.combined import Combined
from benchmarks.baselines.common import Attempt
from benchmarks.baselines.conversation import ConversationSteps
from benchmarks.baselines.elastic import ElasticSteps
from benchmarks.baselines.preference import ContrastiveElastic, MovingReferenceDPO
from benchmarks.baselines.single_steps import SingleSteps
from benchmarks.baselines.threshold import ThresholdSteps
from benchmarks.baselines.warm_adam import WarmAdamSteps
from engine.model import Model
from learning.data.examples import Example

Make = Callable[[Model, Sequence[Example]], Attempt]


@dataclass(frozen=True)
class Named:
    """A method with its description."""

    number: int
    """Number of the method, 1 to 8; some have several strengths."""
    what: str
    """One-line description for tables."""
    make: Make
    """(model after book training, examples of the book) -> the method."""


ATTEMPTS: dict[str, Named] = {
    "single-1e-4": Named(1, "one step on the lesson, lr 1e-4", lambda m, _: SingleSteps(m, 1e-4)),
    "single-5e-5": Named(1, "one step on the lesson, lr 5e-5", lambda m, _: SingleSteps(m, 5e-5)),
    "single-1e-5": Named(1, "one step on the lesson, lr 1e-5", lambda m, _: SingleSteps(m, 1e-5)),
    "repeats": Named(2, "four steps on the lesson, lr 1e-5", lambda m, _: SingleSteps(m, 1e-5, 4)),
    "warm-adam": Named(3, "one step with the book's Adam state", WarmAdamSteps),
    "threshold": Named(4, "steps while the loss is above 1.5", lambda m, _: ThresholdSteps(m)),
    "elastic-0.02": Named(
        5, "four steps, each pulled back by 0.02", lambda m, _: ElasticSteps(m, 0.02)
    ),
    "elastic-0.01": Named(
        5, "four steps, each pulled back by 0.01", lambda m, _: ElasticSteps(m, 0.01)
    ),
    "elastic-0.1": Named(
        5, "four steps, each pulled back by 0.1", lambda m, _: ElasticSteps(m, 0.1)
    ),
    "dpo-moving": Named(
        6, "DPO against a reference that moves along", lambda m, _: MovingReferenceDPO(m)
    ),
    "contrastive": Named(
        6, "contrastive loss, pulled back by 0.02", lambda m, _: ContrastiveElastic(m)
    ),
    "conversation": Named(
        7, "five lessons' gradients, then one step", lambda m, _: ConversationSteps(m)
    ),
    "combined": Named(8, "two to seven together", Combined),
}
"""Name -> attempt."""

__all__ = ["ATTEMPTS", "Attempt", "Make", "Named"]
