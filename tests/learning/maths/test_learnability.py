"""What questions are worth, by golden numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import pytest

from learning.maths.learnability import (
    REFUSED,
    adversarial,
    hard_but_solved,
    learnability,
    questioner_rewards,
    rarer_outcome,
    repeated_shares,
)

SHARES = (0.0, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)


@pytest.mark.parametrize(
    ("worth", "golden"),
    [
        (learnability, (0.0, 0.4375, 0.75, 1.0, 0.75, 0.0)),
        (rarer_outcome, (0.0, 0.125, 0.25, 0.5, 0.25, 0.0)),
        (hard_but_solved, (0.0, 0.875, 0.75, 0.5, 0.25, 0.0)),
        (adversarial, (1.0, 0.875, 0.75, 0.5, 0.25, 0.0)),
    ],
)
def test_golden_values(worth: Callable[[float], float], golden: tuple[float, ...]) -> None:
    assert [worth(right) for right in SHARES] == list(golden)


def test_eight_answers_make_learnability_too_small_by_an_eighth() -> None:
    p = Fraction(3, 10)
    odds = [comb(8, k) * p**k * (1 - p) ** (8 - k) for k in range(9)]
    mean = sum(float(odd) * learnability(k / 8) for k, odd in enumerate(odds))
    assert mean == pytest.approx(4 * 0.3 * 0.7 * (1 - 1 / 8))


def test_what_is_asked_again_and_again_is_worth_less() -> None:
    keys = ["a", "b", "a", None]
    assert repeated_shares(keys) == [0.5, 0.25, 0.5, 0.25]
    right = {"a": 0.5, "b": 0.25}
    assert questioner_rewards(keys, right, learnability) == [0.5, 0.5, 0.5, REFUSED]
    assert questioner_rewards(keys, right, adversarial) == [0.0, 0.5, 0.0, -1.0]
    assert questioner_rewards(["a"] * 4, {"a": 0.5}, learnability) == [0.0] * 4, "collapsed"
