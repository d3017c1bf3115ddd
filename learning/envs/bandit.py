"""The ten-armed testbed of Sutton and Barto, section 2.3."""

from __future__ import annotations

import random
from dataclasses import dataclass

from learning.agents.interface import TimeStep


@dataclass
class TenArmed:
    """One pull an episode; a reward is drawn from N(value of the arm, 1)."""

    values: list[float]
    _rng: random.Random | None = None

    states = 1

    @classmethod
    def drawn(cls, rng: random.Random, arms: int = 10, mean: float = 0.0) -> TenArmed:
        """Arms whose values are drawn from N(mean, 1)."""
        return cls([rng.gauss(mean, 1.0) for _ in range(arms)])

    @property
    def actions(self) -> int:
        return len(self.values)

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self._rng = rng
        return TimeStep(0)

    def step(self, action: int) -> TimeStep[int]:
        assert self._rng is not None, "reset comes first"
        return TimeStep(0, self._rng.gauss(self.values[action], 1.0), 0.0, last=True)
