"""Bandit agents against each other, small versions of `vidya bench toys`."""

from __future__ import annotations

import torch

from learning.agents.bandits import (
    BanditAgent,
    BanditFigures,
    GradientAgent,
    ThompsonAgent,
    ValueAgent,
    play,
)

RUNS, ARMS, STEPS = 300, 10, 500


def played(agent: BanditAgent, mean: float = 0.0) -> BanditFigures:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(RUNS, ARMS, generator=generator) + mean
    return play(agent, values, STEPS, generator)


def test_exploration_pays() -> None:
    greedy = played(ValueAgent(RUNS, ARMS))
    often = played(ValueAgent(RUNS, ARMS, epsilon=0.1))
    bounds = played(ValueAgent(RUNS, ARMS, width=1.0))
    thompson = played(ThompsonAgent(RUNS, ARMS))
    assert 0.25 < float(greedy.optimal.mean()) < 0.45
    assert 0.68 < float(often.optimal.mean()) < 0.84
    assert float(bounds.optimal.mean()) > 0.84
    assert float(bounds.regret.mean()) < 70
    assert float(thompson.regret.mean()) < 100
    assert abs(float(greedy.rewards.mean()) - 1.0) < 0.15


def test_a_baseline_helps_where_rewards_are_far_from_zero() -> None:
    with_it = played(GradientAgent(RUNS, ARMS, rate=0.1), mean=4.0)
    without = played(GradientAgent(RUNS, ARMS, rate=0.1, baseline=False), mean=4.0)
    assert float(with_it.optimal.mean()) > float(without.optimal.mean()) + 0.2


def test_optimistic_estimates_explore_first() -> None:
    optimistic = played(ValueAgent(RUNS, ARMS, rate=0.1, initial=5.0))
    assert 0.6 < float(optimistic.optimal.mean()) < 0.9
