"""The guard: what recall before and after the steps lets weights through, by hand."""

from __future__ import annotations

import pytest
import torch

from engine.model import Model
from learning.memory.guard import Verdict, bound, examine


@pytest.mark.parametrize(
    ("before", "lowest"),
    [(1.0, 0.98), (0.99, 0.97), (0.96, 0.95), (0.95, 0.95), (0.94, 0.92), (0.5, 0.48)],
)
def test_a_book_that_was_known_well_stays_known_well(before: float, lowest: float) -> None:
    assert bound(before) == pytest.approx(lowest)


def judge(model: Model, book: float = 1.0, earlier: float = 1.0, count: int = 100) -> Verdict:
    """All was known before."""
    return examine(
        model,
        book_before=1.0,
        book_recall=book,
        earlier=count,
        earlier_before=1.0,
        earlier_recall=earlier,
    )


@pytest.mark.parametrize(
    ("book", "earlier", "count", "reason"),
    [
        (1.0, 1.0, 100, ""),
        (0.981, 1.0, 100, ""),
        (0.979, 1.0, 100, "too much of the book was forgotten"),
        (float("nan"), 1.0, 100, "too much of the book was forgotten"),
        (1.0, 0.981, 100, ""),
        (1.0, 0.979, 100, "too many earlier lessons were forgotten"),
        (1.0, 0.9, 10, ""),  # one of ten
        (1.0, 0.8, 10, "too many earlier lessons were forgotten"),
        (1.0, 0.0, 0, ""),  # there are none
    ],
)
def test_what_was_forgotten(
    tiny_model: Model, book: float, earlier: float, count: int, reason: str
) -> None:
    verdict = judge(tiny_model, book, earlier, count)
    assert (verdict.passed, verdict.reason) == (not reason, reason)


def test_where_none_is_spared_one_lesson_of_few_is_too_many(tiny_model: Model) -> None:
    for lost, passed in ((0, True), (1, False)):
        verdict = examine(
            tiny_model,
            book_before=1.0,
            book_recall=1.0,
            earlier=10,
            earlier_before=1.0,
            earlier_recall=1.0 - lost / 10,
            spare=0,
        )
        assert verdict.passed == passed


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_do_not_pass(tiny_model: Model, number: float) -> None:
    with torch.no_grad():
        tiny_model.norm.weight[0] = number
    assert judge(tiny_model).reason == "the weights are not finite"
