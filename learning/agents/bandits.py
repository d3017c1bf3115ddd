"""Agents for bandits, each playing many independent runs at once. Sutton and Barto, chapter 2.

Each has `choose` -> arms [R] and `learn(arms, rewards)`; R runs, K arms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor

from learning.maths.bandit import (
    greedy_choice,
    posterior,
    updated_means,
    updated_preferences,
    upper_confidence,
)


class BanditAgent(Protocol):
    """Plays R runs side by side."""

    def choose(self, generator: Generator) -> Tensor:
        """An arm for each run, [R]."""
        ...

    def learn(self, arms: Tensor, rewards: Tensor) -> None:
        """Takes in the rewards, [R], of the arms, [R]."""
        ...


class ValueAgent:
    """Chooses by estimates of the arms: greedy, ε-greedy, with optimistic estimates, or with upper bounds."""

    def __init__(
        self,
        runs: int,
        arms: int,
        *,
        epsilon: float = 0.0,
        rate: float | None = None,
        initial: float = 0.0,
        width: float = 0.0,
    ) -> None:
        """epsilon: share of random choices. rate: of the estimates; None: sample means. initial: all
        estimates at first. width: c of the upper confidence bound, 0: none."""
        self._estimates = torch.full((runs, arms), initial)
        self._counts = torch.zeros(runs, arms)
        self._epsilon, self._rate, self._width = epsilon, rate, width
        self._step = 0

    def choose(self, generator: Generator) -> Tensor:
        """See BanditAgent."""
        self._step += 1
        estimates = self._estimates
        if self._width:
            estimates = upper_confidence(estimates, self._counts, self._step, self._width)
        noise = torch.rand(estimates.shape, generator=generator)
        best = greedy_choice(estimates, noise)
        at_random = torch.rand(len(best), generator=generator) < self._epsilon
        return torch.where(at_random, noise.argmax(-1), best)

    def learn(self, arms: Tensor, rewards: Tensor) -> None:
        """See BanditAgent."""
        self._counts.scatter_add_(-1, arms[:, None], torch.ones(len(arms), 1))
        counted = 1 / self._counts.gather(-1, arms[:, None])[:, 0]
        rate = counted if self._rate is None else torch.full_like(counted, self._rate)
        self._estimates = updated_means(self._estimates, arms, rewards, rate)


class GradientAgent:
    """Chooses by preferences; the baseline is the mean of earlier rewards, or 0."""

    def __init__(self, runs: int, arms: int, *, rate: float, baseline: bool = True) -> None:
        self._preferences = torch.zeros(runs, arms)
        self._rate, self._with_baseline = rate, baseline
        self._sum, self._count = torch.zeros(runs), 0

    def choose(self, generator: Generator) -> Tensor:
        """See BanditAgent."""
        return self._preferences.softmax(-1).multinomial(1, generator=generator)[:, 0]

    def learn(self, arms: Tensor, rewards: Tensor) -> None:
        """See BanditAgent. The first reward is its own baseline."""
        baseline = torch.zeros_like(rewards)
        if self._with_baseline:
            baseline = self._sum / self._count if self._count else rewards
        self._preferences = updated_preferences(
            self._preferences, arms, rewards, baseline, self._rate
        )
        self._sum, self._count = self._sum + rewards, self._count + 1


class ThompsonAgent:
    """Draws each arm's value from its posterior and takes the greatest; rewards have variance 1."""

    def __init__(self, runs: int, arms: int) -> None:
        self._sums, self._counts = torch.zeros(runs, arms), torch.zeros(runs, arms)

    def choose(self, generator: Generator) -> Tensor:
        """See BanditAgent."""
        mean, deviation = posterior(self._sums, self._counts)
        return (mean + deviation * torch.randn(mean.shape, generator=generator)).argmax(-1)

    def learn(self, arms: Tensor, rewards: Tensor) -> None:
        """See BanditAgent."""
        self._sums.scatter_add_(-1, arms[:, None], rewards[:, None])
        self._counts.scatter_add_(-1, arms[:, None], torch.ones(len(arms), 1))


@dataclass(frozen=True)
class BanditFigures:
    """What a bandit agent reached, by run: [R] each."""

    rewards: Tensor
    """Mean reward a step."""
    optimal: Tensor
    """Share of the best arm in the last hundred steps, 0 to 1."""
    regret: Tensor
    """Sum of the best arm's value less the chosen one's."""


def play(agent: BanditAgent, values: Tensor, steps: int, generator: Generator) -> BanditFigures:
    """Plays on arms of these values, [R, K], with rewards of variance 1."""
    best, runs = values.max(-1), len(values)
    total, optimal, regret = torch.zeros(runs), torch.zeros(runs), torch.zeros(runs)
    counted = min(100, steps)
    for step in range(steps):
        arms = agent.choose(generator)
        value = values.gather(-1, arms[:, None])[:, 0]
        rewards = value + torch.randn(runs, generator=generator)
        agent.learn(arms, rewards)
        total, regret = total + rewards, regret + best.values - value
        if step >= steps - counted:
            optimal += arms == best.indices
    return BanditFigures(total / steps, optimal / counted, regret)
