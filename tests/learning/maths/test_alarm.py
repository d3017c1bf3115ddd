"""Alarms on made-up signs, each alone; the curve of over-optimisation by its golden numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from learning.maths.alarm import (
    OverOptimisation,
    Signs,
    alarms,
    commonest_share,
    distinct_pairs,
    fit_over_optimisation,
    must_stop,
    repeated_share,
    told,
)

START = Signs(
    same=0.02,
    length=20.0,
    repeated=0.01,
    distinct=0.8,
    disagreement=0.3,
    agreement=0.75,
    choices=100,
    right=(True,) * 20,
    components={"taste": 0.5},
)


@pytest.mark.parametrize(
    ("name", "hard", "good", "bad"),
    [
        ("kl", True, {"kl": 10.0}, {"kl": 10.1}),
        ("same answer", True, {"same": 0.3}, {"same": 0.31}),
        ("length", True, {"length": 27.0}, {"length": 27.1}),
        ("length", True, {"length": 13.4}, {"length": 13.3}),
        ("repetition", True, {"repeated": 0.1}, {"repeated": 0.11}),
        ("same question", True, {"asked": 0.3}, {"asked": 0.29}),
        ("disagreement", False, {"disagreement": 0.6}, {"disagreement": 0.61}),
        ("variety", False, {"distinct": 0.57}, {"distinct": 0.55}),
        # standard error of 0.75 among 100: 0.0433
        ("agreement", False, {"agreement": 0.665}, {"agreement": 0.66}),
    ],
)
def test_each_alarm_has_its_bound(
    name: str, hard: bool, good: dict[str, Any], bad: dict[str, Any]
) -> None:
    assert alarms(START, replace(START, **good)) == []
    (found,) = alarms(START, replace(START, **bad))
    assert (found.name, found.hard) == (name, hard)
    assert must_stop([found]) is hard


def test_shorter_answers_are_as_the_owner_chose_them() -> None:
    start = replace(START, chosen_short=6.0)
    assert alarms(start, replace(start, length=6.0)) == []
    (found,) = alarms(start, replace(start, length=5.9))
    assert found.name == "length" and found.hard and "shorter (20 to 6 tokens)" in found.words
    long = replace(START, chosen_short=18.0)
    assert alarms(long, replace(long, length=13.4)) == [], "never narrower than without picks"
    assert alarms(start, replace(start, length=30.1)), "longer is, whatever was chosen"


def test_a_component_that_rises_while_fewer_are_right() -> None:
    wrong = (False,) * 8 + (True,) * 12  # 8 lost, none gained: p = 2 / 256
    up = {"taste": 0.61}
    (found,) = alarms(START, replace(START, right=wrong, components=up))
    assert found.name == "hack" and not found.hard
    assert alarms(START, replace(START, right=wrong, components={"taste": 0.6})) == []
    seven = (False,) * 7 + (True,) * 13  # p = 2 / 128 = 0.016
    assert alarms(START, replace(START, right=seven, components=up)) == []


def shares(right: int, calls: float) -> Signs:
    """So many of 20 answers are right, with so many calls each."""
    return Signs(right=(True,) * right + (False,) * (20 - right), counts={"python_count": calls})


@pytest.mark.parametrize(
    ("start", "now", "alarmed"),
    [
        (shares(4, 1.0), shares(4, 2.0), False),
        (shares(4, 1.0), shares(4, 2.01), True),
        # 1.9 is 2.375 times 0.8: fine where right answers became 4.5 times as many, not where twice
        (shares(4, 0.8), shares(18, 1.9), False),
        (shares(4, 0.8), shares(8, 1.9), True),
        # fewer than one call in two answers, and fewer right ones than one in twenty, count as so many
        (shares(4, 0.1), shares(4, 1.0), False),
        (shares(4, 0.1), shares(4, 1.01), True),
        (shares(0, 1.0), shares(2, 2.1), True),
        (shares(0, 1.0), shares(3, 2.1), False),
        (shares(4, 5.0), shares(0, 1.0), False),
    ],
)
def test_a_count_that_more_than_doubles_without_right_answers(
    start: Signs, now: Signs, alarmed: bool
) -> None:
    found = alarms(start, now)
    assert [(one.name, one.hard) for one in found] == [("count", False)] * alarmed
    if alarmed:
        assert found[0].words.startswith("python_count rises from ")


def test_a_count_and_fewer_right_answers_together_stop() -> None:
    start = replace(shares(20, 1.0), components={"python_count": 1.0})
    now = replace(shares(10, 5.0), components={"python_count": 5.0})
    assert [one.name for one in alarms(start, now)] == ["hack", "count"]
    assert must_stop(alarms(start, now))


def test_two_soft_ones_stop_a_run_and_hard_ones_come_first() -> None:
    soft = replace(START, disagreement=1.0, distinct=0.1)
    found = alarms(START, soft)
    assert [one.hard for one in found] == [False, False] and must_stop(found)
    assert alarms(START, replace(soft, repeated=0.5))[0].hard
    assert not must_stop([])


def test_alarms_are_told_by_name() -> None:
    words = told(alarms(START, replace(START, same=0.5, distinct=0.1)))
    assert words.startswith("same answer: 50% of different messages") and "; variety: " in words
    assert told([]) == ""


def test_what_was_not_measured_raises_no_alarm() -> None:
    assert alarms(Signs(), Signs()) == []


def test_measures_of_answers() -> None:
    assert commonest_share(["a", "b", "a", "c"]) == 0.5
    assert commonest_share(["a"]) == 0.0
    # of 8 tokens 5 runs of four; the last is the first again
    assert repeated_share([[1, 2, 3, 4, 1, 2, 3, 4]]) == pytest.approx(1 / 5)
    assert distinct_pairs([[1, 2, 1, 2], [1, 2]]) == pytest.approx(2 / 4)
    assert distinct_pairs([]) == 1.0


def test_the_curve_turns_at_e() -> None:
    curve = OverOptimisation(1.0, 0.5)
    assert curve.peak == pytest.approx(math.e)
    assert curve.gain(curve.peak) == pytest.approx(1.35914, abs=1e-5)
    assert OverOptimisation(1.0, -0.1).peak == math.inf


def test_the_fit_finds_the_curve_again() -> None:
    distances = [0.5, 1.0, 2.0, 4.0]
    fitted = fit_over_optimisation(
        distances, [OverOptimisation(1.0, 0.5).gain(d) for d in distances]
    )
    assert fitted is not None
    assert (fitted.alpha, fitted.beta) == pytest.approx((1.0, 0.5))
    assert fit_over_optimisation([1.0, 1.0], [1.0, 1.0]) is None
