"""The random walk of Sutton and Barto, example 6.2 and figure 12.3: a world to predict, not to act in."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from learning.agents.interface import TimeStep


@dataclass
class RandomWalk:
    """States in a row; each step goes left or right by a coin. It begins in the middle and ends beyond
    either side, with `left` or `right` as the reward. There is one action, which does nothing."""

    states: int = 19
    left: float = -1.0
    right: float = 1.0
    _at: int = 0
    _rng: random.Random | None = None

    actions = 1

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self._at, self._rng = self.states // 2, rng
        return TimeStep(self._at)

    def step(self, action: int) -> TimeStep[int]:
        assert self._rng is not None, "reset comes first"
        self._at += 1 if self._rng.random() < 0.5 else -1
        if 0 <= self._at < self.states:
            return TimeStep(self._at)
        reward = self.left if self._at < 0 else self.right
        return TimeStep(min(max(self._at, 0), self.states - 1), reward, 0.0, last=True)

    def values(self) -> Tensor:
        """The true values, [S], float64: a straight line between both rewards."""
        steps = torch.arange(1, self.states + 1, dtype=torch.float64) / (self.states + 1)
        return self.left + (self.right - self.left) * steps
