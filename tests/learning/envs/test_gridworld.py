"""The gridworlds against the tables of Sutton and Barto."""

from __future__ import annotations

import pytest

from learning.envs.finite import optimal_values, solved_values
from learning.envs.gridworld import two_jumps, way_out

FIGURE_3_2 = [
    *(3.309, 8.789, 4.428, 5.322, 1.492),
    *(1.522, 2.992, 2.250, 1.908, 0.547),
    *(0.051, 0.738, 0.673, 0.358, -0.403),
    *(-0.974, -0.435, -0.355, -0.586, -1.183),
    *(-1.858, -1.345, -1.229, -1.423, -1.975),
]
FIGURE_4_1 = [0, -14, -20, -22, -14, -18, -20, -20, -20, -20, -18, -14, -22, -20, -14, 0]


def test_the_random_policy_in_example_3_5() -> None:
    values = solved_values(*two_jumps().random_walk(), 0.9)
    assert values.tolist() == pytest.approx(FIGURE_3_2, abs=6e-4)


def test_the_best_values_in_example_3_5() -> None:
    values = optimal_values(two_jumps().outcomes(), 0.9).tolist()
    assert values[:5] == pytest.approx([21.978, 24.419, 21.978, 19.419, 17.478], abs=6e-4)
    assert values[20:] == pytest.approx([14.419, 16.022, 14.419, 12.978, 11.680], abs=6e-4)


def test_the_random_policy_in_example_4_1() -> None:
    assert solved_values(*way_out().random_walk(), 1.0).tolist() == pytest.approx(FIGURE_4_1)
