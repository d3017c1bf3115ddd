"""The actor-critic against hand-worked steps."""

from __future__ import annotations

import random

import pytest
import torch

from learning.agents.actor_critic import ActorCritic
from learning.agents.interface import Decision, Move, Trajectory
from learning.agents.tables import SoftmaxTable, TableValue


def test_two_moves_by_hand() -> None:
    """γ 0.5, λ 0.5, both rates 1; the policy is even, so that scores are ±1/2."""
    policy, value = SoftmaxTable(2, 2, random.Random(0)), TableValue(2)
    value.weights.copy_(torch.tensor([1.0, 2.0]))
    learner = ActorCritic(policy, value, actor_rate=1.0, critic_rate=1.0, lam=0.5)
    moves = (Move(0, Decision(0), 1.0, 0.5), Move(1, Decision(1), 3.0, 0.0))
    learner.learn([Trajectory(moves)])
    # first: δ = 1 + 0.5 x 2 - 1 = 1. second: δ = 3 - 2 = 1; both traces keep 0.25 of the first gradient,
    # and the actor's second gradient counts by the discount so far, 0.5
    assert value.weights.tolist() == pytest.approx([1 + 1 + 0.25, 2 + 1])
    assert policy.preferences.flatten().tolist() == pytest.approx(
        [0.5 + 0.125, -0.5 - 0.125, -0.25, 0.25]
    )


def test_a_new_episode_has_no_traces() -> None:
    policy, value = SoftmaxTable(2, 2, random.Random(0)), TableValue(2)
    learner = ActorCritic(policy, value, actor_rate=0.1, critic_rate=0.1, lam=1.0)
    learner.learn([Trajectory((Move(0, Decision(0), 0.0, 1.0),), None, 1)])
    learner.learn([Trajectory((Move(1, Decision(0), 5.0, 0.0),))])
    assert not policy.preferences[0].any()
    assert value.weights.tolist() == [0, pytest.approx(0.5)]
    learner.learn([Trajectory((Move(0, Decision(0), 0.0, 1.0),), None, 1)])
    learner.learn([Trajectory((Move(1, Decision(0), 5.0, 0.0),), begins=False)])
    assert policy.preferences[0, 0] > 0, "it goes on: the first move led here"
