"""The contract of `PolicyLearner`, and that learners may be exchanged: every learner in every small world."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from learning.agents.actor_critic import ActorCritic
from learning.agents.credit import decayed, whole_answer
from learning.agents.interface import Decision, DrawnTokens, Move, Trajectory
from learning.agents.linear import one_hot
from learning.agents.policy_gradient import PolicyGradient
from learning.agents.reinforce import Reinforce
from learning.agents.run import collect, run
from learning.agents.tables import EpsilonGreedy, SoftmaxTable, TableValue
from learning.agents.td_lambda import (
    LinearPrediction,
    Sarsa,
    TrueOnlinePrediction,
)
from learning.envs.bandit import TenArmed
from learning.envs.corridor import Corridor
from learning.envs.gridworld import way_out
from learning.envs.umbrella import UmbrellaChain
from learning.maths.policy import centred_advantages
from tests.implementations import implementations

WORLDS: dict[str, Callable[[], Any]] = {
    "bandit": lambda: TenArmed.drawn(random.Random(5)),
    "gridworld": way_out,
    "corridor": Corridor,
    "umbrella": lambda: UmbrellaChain(5),
}
Made = tuple[Any, Any, Callable[[], list[Tensor]]]
"""(policy, learner, what learning changes)."""


def group(credit: Any, rate: float) -> Callable[[Any, random.Random], Made]:
    def make(world: Any, rng: random.Random) -> Made:
        policy = SoftmaxTable(world.states, world.actions, rng)
        return policy, PolicyGradient(policy, credit, rate), lambda: policy.parameters

    return make


def actor_critic(world: Any, rng: random.Random) -> Made:
    policy, value = SoftmaxTable(world.states, world.actions, rng), TableValue(world.states)
    learner = ActorCritic(policy, value, actor_rate=0.1, critic_rate=0.2, lam=0.9)
    return policy, learner, lambda: [*policy.parameters, *value.parameters]


def reinforce(world: Any, rng: random.Random) -> Made:
    policy, value = SoftmaxTable(world.states, world.actions, rng), TableValue(world.states)
    learner = Reinforce(policy, 0.01, value, 0.1)
    return policy, learner, lambda: [*policy.parameters, *value.parameters]


def sarsa(world: Any, rng: random.Random) -> Made:
    values = torch.zeros(world.states, world.actions, dtype=torch.float64)
    policy = EpsilonGreedy(values, rng, 0.1)
    return policy, Sarsa(policy, rate=0.1, lam=0.8), lambda: [values]


def prediction(kind: Any) -> Callable[[Any, random.Random], Made]:
    def make(world: Any, rng: random.Random) -> Made:
        policy = SoftmaxTable(world.states, world.actions, rng)
        weights = torch.zeros(world.states, dtype=torch.float64)
        learner = kind(one_hot(world.states), weights, rate=0.1, lam=0.8)
        return policy, learner, lambda: [learner.weights]

    return make


LEARNERS: dict[str, Callable[[Any, random.Random], Made]] = {
    "PolicyGradient": group(whole_answer(), 0.5),
    "PolicyGradient, decayed": group(decayed(centred_advantages, 8.0), 0.5),
    "ActorCritic": actor_critic,
    "Reinforce": reinforce,
    "Sarsa": sarsa,
    "LinearPrediction": prediction(LinearPrediction),
    "TrueOnlinePrediction": prediction(TrueOnlinePrediction),
}


def copies(parts: list[Tensor]) -> list[Tensor]:
    return [part.clone() for part in parts]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("world_name", WORLDS)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_in_every_world(name: str, world_name: str) -> None:
    world, rng = WORLDS[world_name](), random.Random(0)
    policy, learner, parts = LEARNERS[name](world, rng)
    before = copies(parts())
    learner.learn([])
    assert same(parts(), before), "nothing to learn from, nothing changed"
    worlds = [WORLDS[world_name]() for _ in range(8)]
    learner.learn(collect(worlds, policy, [random.Random(3) for _ in worlds], groups=["a"] * 8))
    run(world, policy, learner, 3, rng, longest=100)
    if "PolicyGradient" not in name or world_name != "bandit":
        assert not same(parts(), before)
    assert all(bool(part.isfinite().all()) for part in parts())


@pytest.mark.parametrize("name", [name for name in LEARNERS if name.startswith("PolicyGradient")])
def test_a_group_of_equal_rewards_teaches_nothing(name: str) -> None:
    world = UmbrellaChain(0)
    policy, learner, parts = LEARNERS[name](world, random.Random(0))
    before = copies(parts())
    moves = (Move(0, Decision(1), 1.0, 0.0),)
    learner.learn([Trajectory(moves, "a"), Trajectory((Move(0, Decision(0), 1.0, 0.0),), "a")])
    assert same(parts(), before)
    learner.learn([Trajectory(moves, "a"), Trajectory((Move(0, Decision(0), 0.0, 0.0),), "a")])
    assert not same(parts(), before)
    assert policy.probabilities(0)[1] > 0.5


def test_what_the_world_put_there_gets_no_credit() -> None:
    drawn = DrawnTokens((1,), (5, 6), (0.0, 0.0), (False, False))
    put = Move(0, Decision(1, drawn), 1.0, 0.0)
    lost = Move(0, Decision(0, drawn), 0.0, 0.0)
    policy, learner, parts = LEARNERS["PolicyGradient"](UmbrellaChain(0), random.Random(0))
    learner.learn([Trajectory((put,), "a"), Trajectory((lost,), "a")])
    assert not any(bool(part.any()) for part in parts())


def test_every_learner_is_tested() -> None:
    names = implementations({"learn": "self, trajectories"})
    assert names == {name.split(",")[0] for name in LEARNERS}
