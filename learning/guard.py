"""The check that nothing was lost. The learner asks it before weights are published."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from engine.model import Model
from learning.examples import Example
from learning.forward import Knowledge, knowledge, share_known
from learning.trunk import Upper

BOOK_BOUND = 0.95
"""A book that was known this well stays known this well."""
SLACK = 0.02
"""Recall that one lesson may cost at most."""


@dataclass(frozen=True)
class Verdict:
    """What the guard saw."""

    passed: bool
    book_recall: float
    earlier_recall: float
    """Of the lessons taught before."""
    reason: str = ""
    """In plain words, where it did not pass."""


def finite(model: Model | Upper) -> bool:
    """True if every weight is a finite number."""
    whole = model.model if isinstance(model, Upper) else model
    return all(bool(torch.isfinite(p).all()) for p in whole.parameters())


def bound(before: float) -> float:
    """The lowest recall that is let through, given the recall before."""
    return max(BOOK_BOUND, before - SLACK) if before >= BOOK_BOUND else before - SLACK


def examine(
    model: Model | Upper,
    book: list[Example],
    earlier: list[Example],
    *,
    book_before: float,
    earlier_before: float,
    checked: Sequence[Knowledge] | None = None,
    pause: Callable[[], None] = lambda: None,
) -> Verdict:
    """Asks the whole book and all earlier lessons again (by one forward pass each).

    checked: what such a pass over book + earlier has just found, if there was one.
    """
    if not finite(model):
        return Verdict(False, 0.0, 0.0, "the weights are not finite")
    if checked is None:
        checked = knowledge(model, book + earlier, pause=pause)
    book_recall, earlier_recall = (
        share_known(checked[: len(book)]),
        share_known(checked[len(book) :]),
    )
    if not math.isfinite(sum(item.nll for item in checked)):
        return Verdict(False, book_recall, earlier_recall, "the loss is not finite")
    if book_recall < bound(book_before):
        return Verdict(False, book_recall, earlier_recall, "too much of the book was forgotten")
    if earlier and earlier_recall < earlier_before - max(SLACK, 1.0 / len(earlier)):
        return Verdict(
            False, book_recall, earlier_recall, "too many earlier lessons were forgotten"
        )
    return Verdict(True, book_recall, earlier_recall)
