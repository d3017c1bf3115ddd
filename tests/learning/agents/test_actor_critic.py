"""The actor-critic against hand-worked steps."""

from __future__ import annotations

import random

import pytest
import torch

from learning.agents.actor_critic import ActorCritic
from learning.agents.interface import Decision, Move, Trajectory
from learning.agents.linear import LinearValue
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


def test_two_bounded_moves_by_hand() -> None:
    """The same, each step divided by max(1, κ |trace|), as no error is above 1: κ 4 for the actor, whose
    traces are 1 and 0.75 long, and 2 for the critic, whose traces are 1 and 1.25 long."""
    policy, value = SoftmaxTable(2, 2, random.Random(0)), TableValue(2)
    value.weights.copy_(torch.tensor([1.0, 2.0]))
    rates = {"actor_rate": 1.0, "critic_rate": 1.0, "lam": 0.5}
    learner = ActorCritic(policy, value, **rates, bounds=(4.0, 2.0))
    moves = (Move(0, Decision(0), 1.0, 0.5), Move(1, Decision(1), 3.0, 0.0))
    learner.learn([Trajectory(moves)])
    assert value.weights.tolist() == pytest.approx([1 + 1 / 2 + 0.25 / 2.5, 2 + 1 / 2.5])
    assert policy.preferences.flatten().tolist() == pytest.approx(
        [0.5 / 4 + 0.125 / 3, -0.5 / 4 - 0.125 / 3, -0.25 / 3, 0.25 / 3]
    )


@pytest.mark.parametrize(("bounds", "settles"), [(None, False), ((3.0, 2.0), True)])
def test_bounded_steps_settle_where_states_are_alike(
    bounds: tuple[float, float] | None, settles: bool
) -> None:
    """Seven turns whose features are nearly the same, as those of a language model are; 1 at the end."""
    alike = torch.nn.functional.normalize(torch.ones(7, 8) + 0.3 * torch.eye(7, 8))
    policy = SoftmaxTable(7, 2, random.Random(0))
    value: LinearValue[int] = LinearValue(lambda state: alike[state], 8)
    learner = ActorCritic(policy, value, actor_rate=0.0, critic_rate=0.5, bounds=bounds)
    moves = [Move(turn, Decision(0), float(turn == 6), float(turn < 6)) for turn in range(7)]
    for _ in range(300):
        learner.learn([Trajectory(tuple(moves))])
    near = [abs(value(turn) - 1.0) < 0.1 for turn in range(7)]
    assert all(near) if settles else not any(near)


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
