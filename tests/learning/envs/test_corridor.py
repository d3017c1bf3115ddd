"""The corridor against its known solution."""

from __future__ import annotations

import random

import pytest

from learning.envs.corridor import BEST_RIGHT, BEST_VALUE, LEFT, RIGHT, Corridor


def mean_return(right: float, episodes: int) -> float:
    world, rng, total = Corridor(), random.Random(0), 0.0
    for _ in range(episodes):
        step = world.reset(rng)
        while not step.last:
            step = world.step(RIGHT if rng.random() < right else LEFT)
            total += step.reward
    return total / episodes


@pytest.mark.parametrize(
    ("right", "value"), [(BEST_RIGHT, BEST_VALUE), (0.95, -44.21), (0.05, -82.11)]
)
def test_returns(right: float, value: float) -> None:
    assert mean_return(right, 6000) == pytest.approx(value, rel=0.04)
