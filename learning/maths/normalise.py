"""How much each token of an answer weighs in the loss of a batch.

A normaliser takes the answer's own length and the size of the *whole* accumulated batch, so gradient
accumulation does not change the result. Variants are functions that the caller passes in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class BatchSize:
    """Size of the active answers of a batch."""

    answers: int
    tokens: int
    """Of all active answers together."""
    longest: int
    """Most tokens that an answer to the same problem may have. It does not depend on the other problems of
    the batch."""


Normaliser = Callable[[int, BatchSize], float]
"""(tokens of an answer >= 1, size of the batch) -> weight of each of its tokens."""


def by_tokens(length: int, batch: BatchSize) -> float:
    """1 / Σ_a |a|: every token weighs the same, long answers more. DAPO, 2503.14476, eq. 12."""
    return 1.0 / batch.tokens


def by_answer(length: int, batch: BatchSize) -> float:
    """1 / (N |a|): every answer weighs the same, tokens of long ones less. GRPO, 2402.03300, eq. 3."""
    return 1.0 / (batch.answers * length)


def by_constant(length: int, batch: BatchSize) -> float:
    """1 / (N longest): the weight of a token does not depend on any answer's length. Dr. GRPO, 2503.20783."""
    return 1.0 / (batch.answers * batch.longest)
