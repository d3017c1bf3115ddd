"""A linear value: with the features of a table it is a table's."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import Tensor

from learning.agents.actor_critic import ActorCritic
from learning.agents.linear import LinearValue, one_hot
from learning.agents.run import run
from learning.agents.tables import SoftmaxTable, TableValue
from learning.envs.gridworld import way_out


def learned(value: Any) -> tuple[Tensor, Tensor]:
    """(preferences, weights) after twenty episodes of the same chance."""
    world, rng = way_out(), random.Random(3)
    policy = SoftmaxTable(world.states, world.actions, rng)
    learner: ActorCritic[int, int] = ActorCritic(policy, value, actor_rate=0.1, critic_rate=0.2)
    run(world, policy, learner, 20, rng, longest=100)
    return policy.preferences, value.weights


def test_with_one_hot_features_it_is_a_table() -> None:
    states = way_out().states
    linear: LinearValue[int] = LinearValue(one_hot(states), states)
    for one, other in zip(learned(linear), learned(TableValue(states)), strict=True):
        assert one.any()
        torch.testing.assert_close(one, other)


def test_by_hand() -> None:
    value: LinearValue[str] = LinearValue(lambda word: torch.tensor([len(word), 1.0]), 2)
    value.weights.copy_(torch.tensor([2.0, 0.5]))
    assert value("abc") == pytest.approx(6.5)
    (gradient,) = value.gradient("abc")
    assert gradient.tolist() == [3.0, 1.0]
    value.parameters[0].add_(gradient)
    assert value("abc") == pytest.approx(5 * 3 + 1.5), "parameters are changed in place"


def test_features_with_a_gradient_are_only_read() -> None:
    source = torch.ones(2, requires_grad=True)
    value: LinearValue[int] = LinearValue(lambda _: source * 2, 2)
    assert not value.gradient(0)[0].requires_grad
