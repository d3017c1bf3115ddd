"""What the trainer asks for problems: `ProblemSource`, and the plain one, a single task."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from learning.practice.sampling.rollouts import Drawn, Sample, fitting, share_right
from learning.practice.settings import WORTH, WarmUpSettings
from learning.protocol.records import ArmFigures
from learning.rewards.task import Problem, Task
from learning.rewards.verifiers.verified import VerifiedTask

Fits = Callable[[Problem], bool]
"""Whether the model's context has room for a problem."""


@dataclass(frozen=True)
class Warmth:
    """How far warm-up has brought the model; of several tasks, in the one furthest below its goal."""

    success: float
    """Share of right answers, 0 to 1."""
    enough: float
    """The share that ends warm-up."""


def enough_for(task: Task, settings: WarmUpSettings) -> float:
    """The share of right answers at which the task is warm, 0 to 1."""
    method = isinstance(task, VerifiedTask) and task.method
    return settings.enough_method if method else settings.enough


def can_begin(success: float, enough: float) -> bool:
    """Whether practice may begin with a task: its success rate has reached WORTH, or a lower goal."""
    return success >= min(enough, WORTH)


def coldest(success: Mapping[str, float], enough: Mapping[str, float]) -> Warmth:
    """Returns the success rate and the goal of the task whose success rate is furthest below its goal. If
    practice cannot begin with some of the tasks yet, it is one of these. success, enough: by task."""

    def warmth(name: str) -> tuple[bool, float]:
        return can_begin(success[name], enough[name]), success[name] - enough[name]

    name = min(success, key=warmth)
    return Warmth(success[name], enough[name])


class ProblemSource(Protocol):
    """Yields the problems of a run, and hears what became of them."""

    def take(self, count: int) -> list[Problem]:
        """The next `count` problems to practise."""
        ...

    def learn(self, drawn: Sequence[Drawn]) -> None:
        """Hears the scored answers to all problems of one step."""
        ...

    def worked(self, count: int, again: float = 0.0) -> list[Problem]:
        """The next `count` problems of warm-up. again: share of them, 0 to 1, from tasks that are warm
        already, where there are any."""
        ...

    def warmed(self, samples: Sequence[Sample], settings: WarmUpSettings) -> Warmth:
        """Hears one sampled answer to each of some problems of warm-up."""
        ...

    def arms(self) -> tuple[ArmFigures, ...]:
        """Figures of the newest step for each arm; none where there is nothing to choose."""
        ...


MakeSource = Callable[[Task, random.Random, Fits], ProblemSource]


class SingleSource:
    """The problems of one task, as they come."""

    def __init__(self, task: Task, rng: random.Random, fits: Fits) -> None:
        self._task, self._problems = task, fitting(task, rng, fits)

    def take(self, count: int) -> list[Problem]:
        """See ProblemSource. Raises DataError if there are none that fit."""
        return [next(self._problems) for _ in range(count)]

    def learn(self, drawn: Sequence[Drawn]) -> None:
        """Nothing."""

    def worked(self, count: int, again: float = 0.0) -> list[Problem]:
        """See ProblemSource."""
        return self.take(count)

    def warmed(self, samples: Sequence[Sample], settings: WarmUpSettings) -> Warmth:
        """See ProblemSource."""
        return Warmth(share_right(samples), enough_for(self._task, settings))

    def arms(self) -> tuple[ArmFigures, ...]:
        """None."""
        return ()
