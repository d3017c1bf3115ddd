"""What the trainer asks for problems: `ProblemSource`, and the plain one, a single task."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from learning.practice.sampling.rollouts import Drawn, Sample, fitting, share_right
from learning.practice.settings import WORTH
from learning.protocol.records import ArmFigures
from learning.rewards.task import Problem, Task

Fits = Callable[[Problem], bool]
"""Whether the model's context has room for a problem."""


def can_begin(success: float, enough: float) -> bool:
    """Whether practice may begin: the success rate has reached WORTH, or the goal of warm-up if that is
    lower."""
    return success >= min(enough, WORTH)


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

    def warmed(self, samples: Sequence[Sample], enough: float) -> float:
        """Hears one sampled answer to each of some problems of warm-up. Returns the share of right answers,
        0 to 1: the lowest one, if several tasks are warmed up. enough: the share at which a task is warm."""
        ...

    def coldest(self, success: Mapping[str, float]) -> float:
        """The least success rate of the tasks that warm-up brings up one by one, 0 to 1. success: by arm,
        at least one; "" is the arm where there is a single task."""
        ...

    def arms(self) -> tuple[ArmFigures, ...]:
        """Figures of the newest step for each arm; none where there is nothing to choose."""
        ...


MakeSource = Callable[[Task, random.Random, Fits], ProblemSource]


class SingleSource:
    """The problems of one task, as they come."""

    def __init__(self, task: Task, rng: random.Random, fits: Fits) -> None:
        self._problems = fitting(task, rng, fits)

    def take(self, count: int) -> list[Problem]:
        """See ProblemSource. Raises DataError if there are none that fit."""
        return [next(self._problems) for _ in range(count)]

    def learn(self, drawn: Sequence[Drawn]) -> None:
        """Nothing."""

    def worked(self, count: int, again: float = 0.0) -> list[Problem]:
        """See ProblemSource."""
        return self.take(count)

    def warmed(self, samples: Sequence[Sample], enough: float) -> float:
        """See ProblemSource."""
        return share_right(samples)

    def coldest(self, success: Mapping[str, float]) -> float:
        """See ProblemSource."""
        return min(success.values())

    def arms(self) -> tuple[ArmFigures, ...]:
        """None."""
        return ()
