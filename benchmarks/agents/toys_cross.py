"""Every kind of learner in every small world, by the same two loops."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from learning.agents.actor_critic import ActorCritic
from learning.agents.credit import decayed, whole_answer
from learning.agents.policy_gradient import PolicyGradient
from learning.agents.run import collect, run
from learning.agents.tables import EpsilonGreedy, SoftmaxTable, TableValue
from learning.agents.td_lambda import Sarsa
from learning.envs.bandit import TenArmed
from learning.envs.corridor import Corridor
from learning.envs.gridworld import way_out
from learning.envs.umbrella import UmbrellaChain
from learning.maths.policy import centred_advantages

GROUP = 8
"""Episodes with the same beginning that a group learner compares."""
LONGEST = 200
"""Moves after which an episode is cut."""
MEASURED = 200
"""Episodes of the learned policy that a figure is a mean of."""


@dataclass(frozen=True)
class World:
    """A world and what a learned policy should reach in it."""

    make: Callable[[], Any]
    what: str
    """What the figure is, and the bound."""
    episodes: int
    """Of learning."""
    least: float
    figure: Callable[[Any, Any], float]
    """(world, policy that draws) -> what it reaches."""
    rate: float
    """Of a group learner."""
    least_of_values: float | None = None
    """The bound for a policy that is greedy but for chance, where it is another. In the corridor such a
    policy can only be one of two, with returns of -44 and -82."""


@dataclass(frozen=True)
class Cell:
    """One learner in one world."""

    learner: str
    world: str
    measured: float
    met: bool


def _bandit() -> TenArmed:
    return TenArmed.drawn(random.Random(5))


def _mean_return(world: Any, policy: Any) -> float:
    rng, total = random.Random(77), 0.0
    for _ in range(MEASURED):
        (episode,) = collect([world], policy, [rng], longest=LONGEST)
        total += episode.total
    return total / MEASURED


def _arm(world: Any, policy: Any) -> float:
    """Value of the likeliest arm by the best one's."""
    (decision,) = policy.act([0], greedy=True)
    return float(world.values[decision.action] / max(world.values))


def _first_right(world: Any, policy: Any) -> float:
    rng, right = random.Random(77), 0
    for _ in range(MEASURED):
        collect([world], policy, [rng])
        right += world.fits
    return right / MEASURED


WORLDS: dict[str, World] = {
    "bandit": World(_bandit, "likeliest arm by the best, ≥ 0.9", 800, 0.9, _arm, rate=1.0),
    "gridworld 4.1": World(way_out, "return, ≥ -4", 600, -4.0, _mean_return, rate=2.0),
    "corridor": World(
        Corridor, "return, ≥ -14; of values ≥ -90", 600, -14.0, _mean_return, 0.1, -90.0
    ),
    "umbrella 5": World(
        lambda: UmbrellaChain(5), "first action right, ≥ 0.9", 1500, 0.9, _first_right, rate=1.0
    ),
}


def _group(credit: Any) -> Callable[[World, random.Random], tuple[Any, Any]]:
    def make(kind: World, rng: random.Random) -> tuple[Any, Any]:
        world = kind.make()
        policy = SoftmaxTable(world.states, world.actions, rng)
        return policy, PolicyGradient(policy, credit, kind.rate)

    return make


def _actor_critic(kind: World, rng: random.Random) -> tuple[Any, Any]:
    world = kind.make()
    policy, value = SoftmaxTable(world.states, world.actions, rng), TableValue(world.states)
    rates = (0.01, 0.05) if kind.make is Corridor else (0.1, 0.1)
    return policy, ActorCritic(policy, value, actor_rate=rates[0], critic_rate=rates[1], lam=0.9)


def _sarsa(kind: World, rng: random.Random) -> tuple[Any, Any]:
    world = kind.make()
    values = torch.zeros(world.states, world.actions, dtype=torch.float64)
    policy = EpsilonGreedy(values, rng, 0.1)
    return policy, Sarsa(policy, rate=0.1, lam=0.9)


LEARNERS: dict[str, Callable[[World, random.Random], tuple[Any, Any]]] = {
    "group, whole answer": _group(whole_answer()),
    "group, half-life 8": _group(decayed(centred_advantages, 8.0)),
    "actor-critic, λ 0.9": _actor_critic,
    "Sarsa(0.9)": _sarsa,
}


def cross_table(say: Callable[[str], None], *, quick: bool) -> list[Cell]:
    """Plays all of them, one seed each."""
    found = []
    for name, make in LEARNERS.items():
        for world_name, kind in WORLDS.items():
            rng = random.Random(1)
            policy, learner = make(kind, rng)
            episodes = kind.episodes // (4 if quick else 1)
            if isinstance(learner, PolicyGradient):
                _in_groups(kind, policy, learner, episodes, rng)
            else:
                run(kind.make(), policy, learner, episodes, rng, longest=LONGEST)
            measured = kind.figure(kind.make(), policy)
            least = kind.least
            if isinstance(learner, Sarsa) and kind.least_of_values is not None:
                least = kind.least_of_values
            say(f"{name} in {world_name}: {measured:.2f}")
            found.append(Cell(name, world_name, measured, measured >= least))
    return found


def _in_groups(kind: World, policy: Any, learner: Any, episodes: int, rng: random.Random) -> None:
    """Learns from groups of episodes that begin alike."""
    worlds = [kind.make() for _ in range(GROUP)]
    for number in range(episodes // GROUP):
        seed = rng.random()
        beginnings = [random.Random(seed) for _ in worlds]
        learner.learn(collect(worlds, policy, beginnings, groups=[number] * GROUP, longest=LONGEST))
