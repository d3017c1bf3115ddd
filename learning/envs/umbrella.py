"""The umbrella chain of DeepMind's bsuite: only the first action matters, and the reward comes at the end.

Osband et al., 1908.03568. Every step between pays +1 or -1 by a coin, so that the return's variance grows
with the length.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from learning.agents.interface import TimeStep


@dataclass
class UmbrellaChain:
    """A forecast, a choice, `length` steps of noise, then +1 if the choice fits the forecast, else -1.

    Observation: position x 4 + forecast x 2 + choice, for tables; at the beginning the choice is 0.
    """

    length: int = 20
    _at: int = 0
    _forecast: int = 0
    _choice: int = 0
    _rng: random.Random | None = None

    actions = 2

    @property
    def states(self) -> int:
        return 4 * (self.length + 1)

    def reset(self, rng: random.Random) -> TimeStep[int]:
        self._rng, self._at, self._choice = rng, 0, 0
        self._forecast = int(rng.random() < 0.5)
        return TimeStep(self._seen())

    def step(self, action: int) -> TimeStep[int]:
        assert self._rng is not None, "reset comes first"
        if self._at == 0:
            self._choice = action
        self._at += 1
        if self._at > self.length:
            self._at = self.length
            return TimeStep(self._seen(), 1.0 if self.fits else -1.0, 0.0, last=True)
        return TimeStep(self._seen(), 1.0 if self._rng.random() < 0.5 else -1.0)

    @property
    def fits(self) -> bool:
        """Whether this episode's choice fits its forecast."""
        return self._choice == self._forecast

    def _seen(self) -> int:
        return 4 * self._at + 2 * self._forecast + self._choice
