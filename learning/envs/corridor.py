"""The short corridor of Sutton and Barto, example 13.1: three states that look the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

from learning.agents.interface import TimeStep

LEFT, RIGHT = 0, 1
BEST_RIGHT = 2 - 2**0.5
"""Probability of RIGHT in the best policy, 0.586."""
BEST_VALUE = -(6 + 4 * 2**0.5)
"""Its value at the start, -11.66."""


@dataclass
class Corridor:
    """-1 a step until the right end. In the middle state the two actions are exchanged. All states have
    observation 0, so that only a policy that draws is good."""

    states = 1
    actions = 2
    _at: int = 0

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self._at = 0
        return TimeStep(0)

    def step(self, action: int) -> TimeStep[int]:
        forward = (action == RIGHT) != (self._at == 1)
        self._at = self._at + 1 if forward else max(0, self._at - 1)
        ended = self._at == 3
        return TimeStep(0, -1.0, 0.0 if ended else 1.0, ended)
