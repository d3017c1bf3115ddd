"""Which arm, a task at one difficulty, the next problems should come from: a bandit that never settles.

What an arm is worth changes as the model learns: an easy one is solved, a hard one comes within reach. So
estimates forget at a constant rate, counts play no part, and every arm keeps a floor (`ArmChoice`), else one
that was dead once would never be looked at again. A curriculum reads gains and success rates only; it is the
same whether arms are tasks for reinforcement learning or sources of text.
Left out: tasks and their problems (learning.practice.supply.mixture), sources and their rows
(learning.pretraining.sources).
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from engine.errors import ConfigError
from learning.curriculum.interface import Curriculum, Places, Visit
from learning.curriculum.settings import CurriculumSettings
from learning.maths.bandit import (
    boltzmann,
    exp3_probabilities,
    rescaled,
    shared_log_weights,
    slopes,
    updated_log_weights,
    updated_means,
    with_floor,
)

HISTORY = 200
"""Gains by which Exp3 measures new ones (1704.03003)."""
WINDOW = 10
"""Visits over which learning progress is measured (1707.00183)."""
UP, DOWN = 0.7, 0.3
"""Success rates above which `Thresholds` goes to the next arm, and below which to the one before."""

T = TypeVar("T")
Make = Callable[[int, CurriculumSettings], Curriculum]
"""(number of arms, settings) -> a curriculum that knows nothing yet."""


class Uniform:
    """Every arm alike, for ever."""

    def __init__(self, arms: int, _: CurriculumSettings) -> None:
        self._arms = arms

    def probabilities(self) -> Tensor:
        """See Curriculum."""
        return torch.full((self._arms,), 1.0 / self._arms)

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """Nothing."""

    def values(self) -> list[float]:
        """See Curriculum."""
        return [0.0] * self._arms

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return {}

    def load(self, state: dict[str, Any], places: Places) -> None:
        """See Curriculum."""


class Thresholds:
    """One arm at a time, in the order given: the next one above UP of right answers, the one before below
    DOWN, measured on the last problems of the arm (reasoning-gym's curriculum)."""

    def __init__(self, arms: int, settings: CurriculumSettings) -> None:
        self._arms, self._last = arms, settings.last
        self._level = 0
        self._seen: deque[float] = deque(maxlen=settings.last)

    def probabilities(self) -> Tensor:
        """See Curriculum."""
        return torch.nn.functional.one_hot(torch.tensor(self._level), self._arms).float()

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """See Curriculum. Visits of other arms, which the floor brings, say nothing of this one."""
        for visit in visits:
            if visit.arm == self._level:
                self._seen.append(visit.success)
            if len(self._seen) < self._last:
                continue
            right = sum(self._seen) / len(self._seen)
            step = (right > UP) - (right < DOWN)
            if 0 <= self._level + step < self._arms and step:
                self._level += step
                self._seen.clear()

    def values(self) -> list[float]:
        """1 for the arm it is at, 0 for the others."""
        return [float(value) for value in self.probabilities()]

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return {"level": self._level, "seen": list(self._seen)}

    def load(self, state: dict[str, Any], places: Places) -> None:
        """See Curriculum. Begins with the first arm if the one it was at is gone."""
        self._seen.clear()
        self._level, level = 0, int(state["level"])
        if level in places:
            self._level = places.index(level)
            self._seen.extend(float(one) for one in state["seen"])


class Boltzmann:
    """Self-evolving curriculum (SEC): Q <- Q + α (gain - Q), p proportional to exp(Q / τ). 2505.14970."""

    def __init__(self, arms: int, settings: CurriculumSettings) -> None:
        self._estimates = torch.zeros(arms)
        self._rate, self._temperature = settings.rate, settings.temperature

    def probabilities(self) -> Tensor:
        """See Curriculum."""
        return boltzmann(self._estimates, self._temperature)

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """See Curriculum. The gain of an arm is the mean over its visits of this step."""
        rate = torch.tensor(self._rate)
        for arm, own in _by_arm(visits):
            gain = sum(visit.gain for visit in own) / len(own)
            self._estimates = updated_means(
                self._estimates, torch.tensor(arm), torch.tensor(gain), rate
            )

    def values(self) -> list[float]:
        """Q of each arm."""
        return self._estimates.tolist()

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return {"estimates": self._estimates.tolist()}

    def load(self, state: dict[str, Any], places: Places) -> None:
        """See Curriculum. A new arm has the estimate 0, as at the beginning."""
        self._estimates = torch.tensor(_placed(state["estimates"], places, 0.0))


class Exp3:
    """Exponential weights with sharing (Exp3.S), for gains of which nothing is assumed. 1704.03003."""

    def __init__(self, arms: int, settings: CurriculumSettings) -> None:
        self._log_weights = torch.zeros(arms)
        self._exploration, self._share = settings.exploration, settings.share
        self._history: deque[float] = deque(maxlen=HISTORY)

    def probabilities(self) -> Tensor:
        """See Curriculum."""
        return exp3_probabilities(self._log_weights, self._exploration)

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """See Curriculum. Gains are rescaled by the 20th and 80th percentile of the last ones."""
        if not visits:
            return
        self._history.extend(visit.gain for visit in visits)
        gains = rescaled(
            torch.tensor([visit.gain for visit in visits]), torch.tensor(list(self._history))
        )
        for visit, gain in zip(visits, gains, strict=True):
            self._log_weights = updated_log_weights(
                self._log_weights, torch.tensor(visit.arm), gain, drawn_with, self._exploration
            )
        if len(self._log_weights) > 1:
            self._log_weights = shared_log_weights(self._log_weights, self._share)

    def values(self) -> list[float]:
        """ln w of each arm."""
        return self._log_weights.tolist()

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return {"log_weights": self._log_weights.tolist(), "history": list(self._history)}

    def load(self, state: dict[str, Any], places: Places) -> None:
        """See Curriculum. A new arm has the mean weight, because weights have no scale of their own."""
        kept = torch.tensor([float(one) for one in state["log_weights"]])
        mean = float(kept.logsumexp(0)) - math.log(len(kept))
        self._log_weights = torch.tensor(_placed(kept.tolist(), places, mean))
        self._history.clear()
        self._history.extend(float(one) for one in state["history"])


class LearningProgress:
    """Where success changes fastest, up or down: p proportional to the |slope| of the success rate over the
    last WINDOW visits (teacher-student curriculum, 1707.00183, section 3.2). All alike where nothing is
    known yet or nothing changes."""

    def __init__(self, arms: int, _: CurriculumSettings) -> None:
        self._seen: list[deque[float]] = [deque(maxlen=WINDOW) for _ in range(arms)]

    def probabilities(self) -> Tensor:
        """See Curriculum."""
        found = torch.tensor(self.values())
        total = found.sum()
        return found / total if total > 0 else torch.full_like(found, 1.0 / len(found))

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor) -> None:
        """See Curriculum. One visit of an arm is the mean of a step's."""
        for arm, own in _by_arm(visits):
            self._seen[arm].append(sum(visit.success for visit in own) / len(own))

    def values(self) -> list[float]:
        """|slope| of each arm, in success rate a visit. An arm with fewer than two visits has the greatest
        of the others, so that it is looked at."""
        known = [
            float(slopes(torch.tensor(list(own))).abs()) if len(own) > 1 else None
            for own in self._seen
        ]
        most = max((one for one in known if one is not None), default=0.0)
        return [most if one is None else one for one in known]

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return {"seen": [list(own) for own in self._seen]}

    def load(self, state: dict[str, Any], places: Places) -> None:
        """See Curriculum."""
        for own, kept in zip(self._seen, _placed(state["seen"], places, ()), strict=True):
            own.clear()
            own.extend(float(one) for one in kept)


class ArmChoice:
    """A curriculum with a floor under every arm: what draws arms and learns from them."""

    def __init__(self, arms: int, settings: CurriculumSettings, own: int = 1) -> None:
        """own: how many arms, from the first on, share `first`; the curriculum divides it among them. Raises
        ConfigError if there are no arms."""
        if arms < 1:
            raise ConfigError("there is nothing to choose among", "name at least one task")
        self._curriculum = settings.method(arms, settings)
        self._least = torch.full((arms,), settings.floor * (1.0 - settings.first) / arms)
        self._first, self._floor, self._own = settings.first, settings.floor, own
        self._arms = arms

    def probabilities(self) -> Tensor:
        """Of each arm, [K]. The own arms together have at least `first`; each has at least `floor` / K of
        the rest."""
        found = self._curriculum.probabilities()
        least, own = self._least.clone(), found[: self._own]
        # a curriculum may give the own arms nothing at all: then they share alike
        shares = own / own.sum() if own.sum() > 0.0 else torch.full_like(own, 1.0 / len(own))
        floor = torch.full_like(own, self._floor / len(own))
        least[: self._own] += self._first * with_floor(shares, floor)
        return with_floor(found, least)

    def choose(self, count: int, rng: random.Random) -> list[int]:
        """Arms of the next `count` problems, each drawn by itself."""
        return rng.choices(range(self._arms), self.probabilities().tolist(), k=count)

    def learn(self, visits: Sequence[Visit], drawn_with: Tensor | None = None) -> None:
        """Takes in the visits of one step. drawn_with: see Curriculum; None: the present probabilities."""
        self._curriculum.learn(visits, self.probabilities() if drawn_with is None else drawn_with)

    def values(self) -> list[float]:
        """See Curriculum."""
        return self._curriculum.values()

    def state(self) -> dict[str, Any]:
        """See Curriculum."""
        return self._curriculum.state()

    def load(self, state: dict[str, Any], places: Places | None = None) -> None:
        """See Curriculum. places: None: the arms are the same."""
        self._curriculum.load(state, range(self._arms) if places is None else places)


def _by_arm(visits: Sequence[Visit]) -> list[tuple[int, list[Visit]]]:
    """The visits of each arm that has any, in the order of the arms."""
    arms = sorted({visit.arm for visit in visits})
    return [(arm, [visit for visit in visits if visit.arm == arm]) for arm in arms]


def _placed(values: Sequence[T], places: Places, new: T) -> list[T]:
    """The value of each arm by its number before; `new` for an arm that had none."""
    return [new if place is None else values[place] for place in places]
