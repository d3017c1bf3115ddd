"""The benchmark of how sure it says that it is."""

from __future__ import annotations

import math

import pytest

from benchmarks.lessons.calibration import (
    CARDS,
    PERSONAL,
    Question,
    Shown,
    _bins,
    _is_right,
    _judged,
    _kind,
    _questions,
    _surest,
    _tuning,
    fit_exponent,
)
from learning.memory.tasks import NOT_KNOWN


def _card(certainty: float, right: bool, text: str = "x", log_probability: float = -0.5) -> Shown:
    return Shown("taught", "q", text, certainty, 0.5, log_probability, right)


def test_what_is_right() -> None:
    assert _is_right(Question("taught", "q", "Your cat is Bo."), "your cat is bo")
    assert not _is_right(Question("never taught", "q", None), "Your cat is Bo.")
    assert _is_right(Question("sum", "7 + 5", "12"), "7 + 5 = 12.")
    assert not _is_right(Question("sum", "7 + 5", "12"), "7 + 5 = 14.")
    assert not _is_right(Question("sum", "7 + 5", "12"), NOT_KNOWN)


def test_the_exponent_is_the_one_that_foretells_best() -> None:
    # half of what the model calls 1/4 is right: its probability's square root holds
    cards = [_card(0.5, right, log_probability=math.log(0.25)) for right in (True, False)] * 10
    left_out = [_card(0.5, False, NOT_KNOWN, math.log(0.25))] * 50
    assert fit_exponent(cards + left_out) == pytest.approx(0.5)


def test_bins_and_the_surest_card() -> None:
    cards = [_card(0.05 * n, n == 4) for n in range(CARDS)] + [_card(1.0, True)] * CARDS
    assert [card.certainty for card in _surest(cards)] == [pytest.approx(0.2), 1.0]
    assert _kind("taught", [_card(0.9, False), *[_card(0.1, True)] * (CARDS - 1)])["among"] == 1.0
    assert [(b["from"], b["cards"], b["right"]) for b in _bins(cards)][-1] == (0.9, CARDS, 1.0)


def test_nothing_is_judged_that_was_tuned_on() -> None:
    tuned = {row.prompt for rows in _tuning(None) for row in rows}
    taught, rest = _judged(None)
    assert not tuned & {row.prompt for row in (*taught, *rest)}
    assert not {row.prompt for row in taught} & {row.prompt for row in rest}
    kinds = {question.kind for question in _questions(taught, rest, False, 0)}
    assert kinds == {"taught", "in other words", "never taught", "book", "sum"}
    before = _questions(taught, rest, True, 0)
    assert all(q.answer is None for q in before if q.kind in ("taught later", "never taught"))
    assert len(set(PERSONAL)) == 12
