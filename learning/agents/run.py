"""Runs an agent in a world: move by move, or whole episodes of many worlds side by side."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

from learning.agents.interface import (
    Action,
    Decision,
    Environment,
    Move,
    Obs,
    Policy,
    PolicyLearner,
    TimeStep,
    Trajectory,
)


def run(
    environment: Environment[Obs, Action],
    policy: Policy[Obs, Action],
    learner: PolicyLearner[Obs, Action],
    episodes: int,
    rng: random.Random,
    *,
    longest: int | None = None,
) -> list[float]:
    """Learns after every move. Returns each episode's sum of rewards. longest: moves after which an episode
    is cut; its last state is then bootstrapped from."""
    totals = []
    for _ in range(episodes):
        step, begins, total, moves = environment.reset(rng), True, 0.0, 0
        while not (step.last or moves == longest):
            decision = policy.act([step.observation])[0]
            after = environment.step(decision.action)
            learner.learn([_moved(step, decision, after, begins)])
            step, begins, total, moves = after, False, total + after.reward, moves + 1
        totals.append(total)
    return totals


def collect(
    environments: Sequence[Environment[Obs, Action]],
    policy: Policy[Obs, Action],
    rngs: Sequence[random.Random],
    *,
    groups: Sequence[Hashable] = (),
    longest: int | None = None,
) -> list[Trajectory[Obs, Action]]:
    """One whole episode of each world, all worlds in lock step, so that the policy is asked once for all.

    rngs: one for each world; equal seeds give equal beginnings. groups: of each trajectory; none: all are of
    the group None. longest: moves after which an episode is cut.
    """
    steps = [world.reset(rng) for world, rng in zip(environments, rngs, strict=True)]
    moves: list[list[Move[Obs, Action]]] = [[] for _ in environments]
    while open_ones := [
        i for i, step in enumerate(steps) if not (step.last or len(moves[i]) == longest)
    ]:
        decisions = policy.act([steps[i].observation for i in open_ones])
        for i, decision in zip(open_ones, decisions, strict=True):
            after = environments[i].step(decision.action)
            moves[i].append(Move(steps[i].observation, decision, after.reward, after.discount))
            steps[i] = after
    marks = list(groups) or [None] * len(steps)
    return [
        Trajectory(tuple(made), group, _behind(step))
        for made, group, step in zip(moves, marks, steps, strict=True)
    ]


def _moved(
    step: TimeStep[Obs], decision: Decision[Action], after: TimeStep[Obs], begins: bool
) -> Trajectory[Obs, Action]:
    move = Move(step.observation, decision, after.reward, after.discount)
    return Trajectory((move,), None, _behind(after), begins)


def _behind(step: TimeStep[Obs]) -> Obs | None:
    """The observation to bootstrap from; None at a true end."""
    return None if step.discount == 0 else step.observation
