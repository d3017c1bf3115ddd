"""Components of variance against a worked example, and of tables whose true ones are known."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from benchmarks.common.two_way import components, icc_interval, rows_exceed_columns

JUDGES = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
"""Shrout and Fleiss (1979), table 2: six targets, four judges. ICC(2,1) is 0.29."""


def drawn(rng: random.Random, rows: float, columns: float, error: float) -> list[list[float]]:
    """5 x 3 values with effects of these standard deviations."""
    of_column = [rng.gauss(0, columns) for _ in range(3)]
    return [
        [row + column + rng.gauss(0, error) for column in of_column]
        for row in [rng.gauss(0, rows) for _ in range(5)]
    ]


def test_the_worked_example() -> None:
    found = components(JUDGES)
    assert found.error == pytest.approx(1.02, abs=0.005)
    assert found.icc == pytest.approx(0.29, abs=0.005)
    assert found.rows == pytest.approx((11.24 - 1.02) / 4, abs=0.01)
    assert found.columns == pytest.approx((32.49 - 1.02) / 6, abs=0.01)


def test_estimates_are_right_in_the_mean() -> None:
    rng = random.Random(0)
    found = [components(drawn(rng, 3, 2, 1)) for _ in range(4000)]
    assert fmean(one.rows for one in found) == pytest.approx(9, rel=0.05)
    assert fmean(one.columns for one in found) == pytest.approx(4, rel=0.05)
    assert fmean(one.error for one in found) == pytest.approx(1, rel=0.05)


def test_an_order_that_matters_is_claimed_and_chance_is_not() -> None:
    rng = random.Random(1)
    strong = [[10.0 * order + rng.gauss(0, 1) for _ in range(3)] for order in range(5)]
    low, high = icc_interval(strong, random.Random(0))
    assert low > 0.5 and high <= 1.0 and low < components(strong).icc < high
    assert rows_exceed_columns(strong, random.Random(0)) < 0.05
    by_seed = [[10.0 * seed + rng.gauss(0, 1) for seed in range(3)] for _ in range(5)]
    assert rows_exceed_columns(by_seed, random.Random(0)) > 0.5
    assert icc_interval(by_seed, random.Random(0))[0] == 0.0


def test_where_nothing_differs_nothing_is_claimed() -> None:
    flat = [[50.0] * 3] * 5
    assert components(flat).icc == 0.0 and rows_exceed_columns(flat, random.Random(0)) == 1.0


@pytest.mark.parametrize("wrong", [[], [[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], [3.0]]])
def test_a_table_without_two_rows_and_columns_is_refused(wrong: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="two rows"):
        components(wrong)
