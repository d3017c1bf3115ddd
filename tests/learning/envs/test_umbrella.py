"""The umbrella chain: the first action decides the last reward, the rest is noise."""

from __future__ import annotations

import random

import pytest

from learning.envs.umbrella import UmbrellaChain


@pytest.mark.parametrize("length", [0, 5, 20])
def test_only_the_first_action_matters(length: int) -> None:
    world, rng = UmbrellaChain(length), random.Random(1)
    between = []
    for _ in range(300):
        forecast = world.reset(rng).observation // 2 % 2
        choice = rng.randrange(2)
        step, rewards = world.step(choice), []
        rewards.append(step.reward)
        while not step.last:
            step = world.step(rng.randrange(2))
            rewards.append(step.reward)
        assert len(rewards) == length + 1
        assert rewards[-1] == (1 if choice == forecast else -1)
        between += rewards[:-1]
    assert set(between) <= {-1.0, 1.0}
    if between:
        assert abs(sum(between)) < 4 * len(between) ** 0.5, "a fair coin"
