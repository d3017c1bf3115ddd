"""Checks the agents against known solutions, and every kind of learner in every small world.

The references are Sutton and Barto's (2nd edition), solved exactly or played by independent code. A figure is
right where it lies within three standard errors of its reference, both errors added.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Tensor

from benchmarks import BenchOptions
from benchmarks.agents.toys_cross import LEARNERS, WORLDS, cross_table
from benchmarks.common.report import machine, table, write
from learning.agents.actor_critic import ActorCritic
from learning.agents.bandits import BanditAgent, GradientAgent, ThompsonAgent, ValueAgent, play
from learning.agents.linear import one_hot
from learning.agents.reinforce import Reinforce
from learning.agents.run import collect
from learning.agents.run import run as run_agent
from learning.agents.tables import EpsilonGreedy, SoftmaxTable, TableValue
from learning.agents.td_lambda import LinearPrediction, Sarsa, TrueOnlinePrediction
from learning.envs.corridor import RIGHT, Corridor
from learning.envs.finite import optimal_values, solved_values
from learning.envs.gridworld import Gridworld, two_jumps
from learning.envs.umbrella import UmbrellaChain
from learning.envs.walk import RandomWalk
from learning.maths.returns import lambda_returns
from learning.maths.td import accumulate, replace

ERRORS = 3.0
"""Standard errors within which a figure agrees with its reference."""
RUNS, STEPS, ARMS = 2000, 1000, 10
SARSA = {0.0: (0.865, 0.095, 60), 0.8: (0.855, 0.113, 100)}
"""λ -> mean, deviation and number of runs of independent code: 500 episodes of 100 moves, from Q 0, α 0.1,
ε 0.1, replacing traces. A half of them end below 0.9."""
Play = Callable[[int], BanditAgent]
BANDITS: dict[str, tuple[Play, float, float, float]] = {
    "greedy, sample means": (lambda n: ValueAgent(n, ARMS), 0.0, 1.012, 0.347),
    "ε 0.01": (lambda n: ValueAgent(n, ARMS, epsilon=0.01), 0.0, 1.184, 0.584),
    "ε 0.1": (lambda n: ValueAgent(n, ARMS, epsilon=0.1), 0.0, 1.300, 0.800),
    "UCB, c 1": (lambda n: ValueAgent(n, ARMS, width=1.0), 0.0, 1.475, 0.922),
    "UCB, c 2": (lambda n: ValueAgent(n, ARMS, width=2.0), 0.0, 1.386, 0.849),
    "optimistic, Q 5, α 0.1": (
        lambda n: ValueAgent(n, ARMS, rate=0.1, initial=5.0),
        0.0,
        1.293,
        0.856,
    ),
    "gradient, α 0.1": (lambda n: GradientAgent(n, ARMS, rate=0.1), 4.0, 5.353, 0.847),
    "gradient, α 0.4": (lambda n: GradientAgent(n, ARMS, rate=0.4), 4.0, 5.376, 0.720),
    "gradient, α 0.1, no baseline": (
        lambda n: GradientAgent(n, ARMS, rate=0.1, baseline=False),
        4.0,
        5.099,
        0.497,
    ),
    "gradient, α 0.4, no baseline": (
        lambda n: GradientAgent(n, ARMS, rate=0.4, baseline=False),
        4.0,
        4.724,
        0.272,
    ),
}
"""Agent -> (maker, mean of the arms, reference of the mean reward, of the share of the best arm in the last
hundred steps). The references are of 2,000 runs of 1,000 steps too."""
WALK = {
    "true online, λ 0.8, α 0.4": 0.259,
    "replacing, λ 0.8, α 0.4": 0.262,
    "accumulating, λ 0.8, α 0.2": 0.302,
    "TD(0), α 0.8": 0.348,
    "offline λ-return, λ 0.8, α 0.2": 0.365,
}
"""Root mean square error over the states and the first ten episodes of the 19-state walk, in 100 runs."""
WALK_BOUND = 0.02


@dataclass(frozen=True)
class ToyFigure:
    """One measured figure and what it should be."""

    part: str
    name: str
    measured: float
    error: float
    """Standard error of the mean; 0: exact."""
    wanted: str
    """The reference or the bound, in words."""
    met: bool


def run(options: BenchOptions) -> dict[str, Any]:
    """See `vidya bench`."""
    started, found = time.perf_counter(), machine()
    scale = 10 if options.quick else 1
    figures: list[ToyFigure] = []
    torch.set_num_threads(1)
    for part in (bandits, gridworlds, walks, corridors, umbrellas):
        for figure in part(scale):
            options.say(f"{figure.part}: {figure.name}: {figure.measured:.3f}, {figure.wanted}")
            figures.append(figure)
    cells = cross_table(options.say, quick=options.quick)
    result = {
        "benchmark": "toys",
        "machine": found,
        "quick": options.quick,
        "figures": [asdict(figure) for figure in figures],
        "cells": [asdict(cell) for cell in cells],
        "missed": [f"{f.part}: {f.name}" for f in figures if not f.met]
        + [f"{c.learner} in {c.world}" for c in cells if not c.met],
        "seconds": time.perf_counter() - started,
    }
    if options.out is not None:
        _write(options, result, figures, cells)
    return result


def bandits(scale: int) -> Iterator[ToyFigure]:
    """The ten-armed testbed, figures 2.2 to 2.5."""
    runs = RUNS // scale
    for number, (name, (make, mean, reward, optimal)) in enumerate(BANDITS.items()):
        generator = torch.Generator().manual_seed(number)
        values = torch.randn(runs, ARMS, generator=generator) + mean
        played = play(make(runs), values, STEPS, generator)
        for what, measured, wanted in (
            ("mean reward", played.rewards, reward),
            ("best arm in the last 100 steps", played.optimal, optimal),
        ):
            error = float(measured.std() / runs**0.5)
            theirs = float(measured.std() / RUNS**0.5)
            at = float(measured.mean())
            met = abs(at - wanted) <= ERRORS * (error**2 + theirs**2) ** 0.5
            yield ToyFigure("bandit", f"{name}: {what}", at, error, f"{wanted:.3f}", met)
    generator = torch.Generator().manual_seed(99)
    values = torch.randn(runs, ARMS, generator=generator)
    for name, agent, most in (
        ("UCB, c 1", ValueAgent(runs, ARMS, width=1.0), 70.0),
        ("Thompson", ThompsonAgent(runs, ARMS), float("inf")),
    ):
        regret = play(agent, values, STEPS, generator).regret
        at, error = float(regret.mean()), float(regret.std() / runs**0.5)
        bound = f"< {most:.0f}" if most < float("inf") else "as it comes"
        yield ToyFigure("bandit", f"{name}: regret", at, error, bound, at < most)


def gridworlds(scale: int) -> Iterator[ToyFigure]:
    """Example 3.5: its exact values are in the tests; here Sarsa(λ) learns to act.

    Its greedy policy is nearly the best one, or it stays with the lesser jump: the runs are of two kinds, so
    a few of them say little of their own spread, and that of the reference's stands for it.
    """
    best, runs = optimal_values(two_jumps().outcomes(), 0.9), 5 if scale == 1 else 1
    for lam, (wanted, spread, played) in SARSA.items():
        shares = []
        for seed in range(runs):
            world, rng = two_jumps(), random.Random(seed)
            values = torch.zeros(world.states, world.actions, dtype=torch.float64)
            learner = Sarsa(EpsilonGreedy(values, rng, 0.1), 0.1, lam, replace)
            run_agent(world, learner.policy, learner, 500 // min(scale, 2), rng, longest=100)
            learner.finish()
            shares.append(float((_value_of(world, values) / best).mean()))
        at = fmean(shares)
        name = f"Sarsa({lam}): value of its greedy policy by the best"
        bound = ERRORS * spread * (runs**-0.5 + played**-0.5)
        met = abs(at - wanted) <= bound
        yield ToyFigure("gridworld 3.5", name, at, _error(shares), f"{wanted} ± {bound:.2f}", met)


def _value_of(world: Gridworld, values: Tensor) -> Tensor:
    """The exact value, [S], of the greedy policy of a table."""
    transitions = torch.zeros(world.states, world.states, dtype=torch.float64)
    rewards = torch.zeros(world.states, dtype=torch.float64)
    for state, action in enumerate(values.argmax(-1).tolist()):
        after, rewards[state] = world.outcome(state, action)
        transitions[state, after] = 1
    return solved_values(transitions, rewards, world.discount)


def walks(scale: int) -> Iterator[ToyFigure]:
    """Figure 12.3 and its relatives: prediction in the 19-state walk."""
    for name, wanted in WALK.items():
        errors = [_walk_error(name, seed) for seed in range(max(4, 40 // scale))]
        at = fmean(errors)
        met = abs(at - wanted) <= (WALK_BOUND if scale == 1 else 3 * WALK_BOUND)
        yield ToyFigure("19-state walk", name, at, _error(errors), f"{wanted} ± {WALK_BOUND}", met)


def _walk_error(name: str, seed: int) -> float:
    world, rng, truth = RandomWalk(), random.Random(seed), RandomWalk().values()
    policy = SoftmaxTable(world.states, 1, rng)
    x, zeros = one_hot(world.states), torch.zeros(world.states, dtype=torch.float64)
    learner: Any = {
        "true": lambda: TrueOnlinePrediction(x, zeros, 0.4, 0.8),
        "repl": lambda: LinearPrediction(x, zeros, 0.4, 0.8, replace),
        "accu": lambda: LinearPrediction(x, zeros, 0.2, 0.8, accumulate),
        "TD(0": lambda: LinearPrediction(x, zeros, 0.8, 0.0, accumulate),
        "offl": lambda: None,
    }[name[:4]]()
    weights, errors = zeros, []
    for _ in range(10):
        (episode,) = collect([world], policy, [rng])
        if learner is None:
            weights = _offline(weights, episode, rate=0.2, lam=0.8)
        else:
            learner.learn([episode])
            weights = learner.weights
        errors.append(float((weights - truth).square().mean().sqrt()))
    return fmean(errors)


def _offline(weights: Tensor, episode: Any, rate: float, lam: float) -> Tensor:
    """The offline λ-return algorithm: all errors by the weights from before the episode, section 12.1."""
    states = torch.tensor([move.observation for move in episode.moves])
    rewards, discounts = (
        torch.tensor([getattr(m, part) for m in episode.moves], dtype=torch.float64)
        for part in ("reward", "discount")
    )
    following = torch.cat([weights[states[1:]], torch.zeros(1, dtype=torch.float64)])
    targets = lambda_returns(rewards, discounts, following, lam)
    changed = weights.clone()
    for state, target in zip(states.tolist(), targets.tolist(), strict=True):
        changed[state] += rate * (target - float(weights[state]))
    return changed


def corridors(scale: int) -> Iterator[ToyFigure]:
    """Example 13.1 and figure 13.2: only a policy that draws is good."""
    for name, rate, critic_rate, wanted in (
        ("REINFORCE with a baseline", 2.0**-9, 2.0**-6, -13.0),
        ("REINFORCE", 2.0**-13, 0.0, -13.5),
    ):
        ends, rights = [], []
        for seed in range(max(2, 10 // scale)):
            rng = random.Random(seed)
            policy, value = SoftmaxTable(1, 2, rng), TableValue(1)
            policy.preferences[0, RIGHT] = torch.tensor(0.05 / 0.95).log()
            learner = Reinforce(policy, rate, value if critic_rate else None, critic_rate)
            totals = []
            for _ in range(1000):
                (episode,) = collect([Corridor()], policy, [rng])
                learner.learn([episode])
                totals.append(episode.total)
            ends.append(fmean(totals[-100:]))
            rights.append(float(policy.probabilities(0)[RIGHT]))
        at, error = fmean(ends), _error(ends)
        met = at + ERRORS * error >= wanted
        told = f"{name}, last 100 of 1,000 episodes; p(right) {fmean(rights):.3f}"
        yield ToyFigure("corridor", told, at, error, f"≥ {wanted}", met)


def umbrellas(scale: int) -> Iterator[ToyFigure]:
    """bsuite's chain of 20: how soon the first action is right, by the decay of the traces."""
    episodes = 1000
    for lam, least, most in ((0.0, 0.0, 0.65), (0.9, 0.88, 1.0)):
        shares = []
        for seed in range(max(1, 4 // scale)):
            world, rng = UmbrellaChain(20), random.Random(seed)
            policy, value = SoftmaxTable(world.states, 2, rng), TableValue(world.states)
            learner = ActorCritic(policy, value, actor_rate=0.1, critic_rate=0.1, lam=lam)
            right = 0
            for _ in range(episodes):
                run_agent(world, policy, learner, 1, rng)
                right += world.fits
            shares.append(right / episodes)
        at = fmean(shares)
        name = f"actor-critic, λ {lam}: first action right in the first {episodes:,} episodes"
        wanted = f"≥ {least}" if least else f"≤ {most}"
        yield ToyFigure("umbrella 20", name, at, _error(shares), wanted, least <= at <= most)


def _error(values: list[float]) -> float:
    """Standard error of the mean; 0 for one value."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def _write(
    options: BenchOptions, result: dict[str, Any], figures: list[ToyFigure], cells: Any
) -> None:
    rows = [
        [f.part, f.name, f"{f.measured:.3f} ± {f.error:.3f}", f.wanted, "yes" if f.met else "NO"]
        for f in figures
    ]
    crossed = [
        [
            learner,
            *(
                f"{c.measured:.2f}{'' if c.met else ' (NO)'}"
                for world in WORLDS
                for c in cells
                if (c.learner, c.world) == (learner, world)
            ),
        ]
        for learner in LEARNERS
    ]
    text = [
        "± is the standard error of the mean. A figure with a reference agrees where it lies within three "
        "standard errors, both errors added.",
        table(["world", "figure", "measured", "wanted", "met"], rows),
        "## Every learner in every world\n\nThe same loops, the same records; only the learner or the "
        "world is exchanged.",
        table(["learner", *(f"{name}: {world.what}" for name, world in WORLDS.items())], crossed),
        f"{result['seconds']:.0f} seconds in all.",
    ]
    assert options.out is not None
    title = "Agents in small worlds"
    write(options.out, "toys", title, options.command("toys"), text, result)
