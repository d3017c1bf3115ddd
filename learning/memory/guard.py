"""Judges whether steps cost too much of the book or of earlier lessons. Asked before publication."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.model import Model

BOOK_BOUND = 0.95
"""A book with at least this recall must keep it."""
SLACK = 0.02
"""Recall that one lesson may cost at most otherwise."""


@dataclass(frozen=True)
class Verdict:
    """The guard's decision and the recall it rests on."""

    passed: bool
    book_recall: float
    earlier_recall: float
    """Recall of the lessons taught before."""
    reason: str = ""
    """Why it did not pass, in plain words."""


def finite(model: Model) -> bool:
    """True if every weight is a finite number. A sum is not finite if one of its terms is not, and is much
    quicker than a look at each."""
    sums = [parameter.detach().sum(dtype=torch.float32) for parameter in model.parameters()]
    return bool(torch.isfinite(torch.stack(sums)).all())


def bound(before: float) -> float:
    """The lowest recall that passes, given the recall before."""
    return max(BOOK_BOUND, before - SLACK) if before >= BOOK_BOUND else before - SLACK


def examine(
    model: Model,
    *,
    book_before: float,
    book_recall: float,
    earlier: int,
    earlier_before: float,
    earlier_recall: float,
    spare: int = 1,
) -> Verdict:
    """Compares recall before and after the steps. earlier: number of earlier lessons. spare: how many of them
    may be lost even where that is more than SLACK, >= 0."""
    if not finite(model):
        return Verdict(False, 0.0, 0.0, "the weights are not finite")
    reason = ""
    if not book_recall >= bound(book_before):
        reason = "too much of the book was forgotten"
    elif earlier and not earlier_recall >= earlier_before - max(SLACK, spare / earlier):
        reason = "too many earlier lessons were forgotten"
    return Verdict(not reason, book_recall, earlier_recall, reason)
