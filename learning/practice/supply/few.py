"""A fixed list of problems, practised again and again: one example or many, in a chosen order.

The list does not depend on the seed of a run, so an example has a number. Examples whose success rate varies
most while several are practised may be worth more than others (historical variance, 2504.20571, section 2).
Left out: warm-up, which has new problems all the time; worked answers of a few would be learned by heart.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import pstdev

from engine.errors import DataError
from learning.practice.figures import is_dead
from learning.practice.sampling.rollouts import MISSES, Drawn, Sample, fitting, share_right
from learning.practice.settings import FewSettings
from learning.practice.supply.source import Fits, SingleSource
from learning.protocol.records import ArmFigures
from learning.rewards.task import Problem, Task

SHOWN = 8
"""Examples up to which figures of each are told."""


class FewSource:
    """Repeats a list of problems. Implements ProblemSource."""

    def __init__(self, task: Task, rng: random.Random, fits: Fits, settings: FewSettings) -> None:
        """rng: of the order and of warm-up; the list does not depend on it. Raises DataError if the task has
        not so many different problems, ConfigError if they cannot be ordered so."""
        self._settings, self._rng = settings, rng
        self._fresh = SingleSource(task, random.Random(rng.random()), fits)
        count = settings.candidates if settings.reference else settings.examples
        found = different(task, settings.example + count, fits)[settings.example :]
        self._numbers = {one.same: settings.example + at for at, one in enumerate(found)}
        self._history: dict[int, list[float]] = {one: [] for one in self._numbers.values()}
        """Of each example its success rate in each step in which it was practised."""
        self._left = settings.reference
        """Steps of the reference run still to come."""
        self._figures: tuple[ArmFigures, ...] = ()
        self._use(found)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the examples that are practised now, in order."""
        return tuple(self._numbers[problem.same] for problem in self._problems)

    def take(self, count: int) -> list[Problem]:
        """See ProblemSource."""
        return [next(self._turns) for _ in range(count)]

    def learn(self, drawn: Sequence[Drawn]) -> None:
        """See ProblemSource. After the last step of the reference run those that varied most are kept."""
        groups = [group for part in drawn for group in part.groups if group]
        weight = 1 / len(self._problems)
        figures = []
        for problem, number in zip(self._problems, self.numbers, strict=True):
            own = [group for group in groups if group[0].problem.same == problem.same]
            judged = any(is_dead(group) is not None for group in own)
            success = share_right([s for group in own for s in group]) if judged else None
            if success is not None:
                self._history[number].append(success)
            dead = sum(is_dead(group) is True for group in own)
            value = self.variation(number)
            figures.append(ArmFigures(f"example {number}", weight, value, len(own), dead, success))
        self._figures = tuple(figures) if len(figures) <= SHOWN else ()
        if self._left:
            self._left -= 1
            if not self._left:
                best = sorted(
                    self._problems, key=lambda one: -self.variation(self._numbers[one.same])
                )
                self._use(best[: self._settings.examples])

    def variation(self, number: int) -> float:
        """Standard deviation of the success rate of an example over the steps in which it was practised, 0
        to 0.5; 0 before there are two."""
        seen = self._history[number]
        return pstdev(seen) if len(seen) > 1 else 0.0

    def worked(self, count: int, again: float = 0.0) -> list[Problem]:
        """See ProblemSource; new problems, whatever is practised."""
        return self._fresh.worked(count, again)

    def warmed(self, samples: Sequence[Sample], enough: float) -> float:
        """See ProblemSource."""
        return self._fresh.warmed(samples, enough)

    def coldest(self, success: Mapping[str, float]) -> float:
        """See ProblemSource."""
        return self._fresh.coldest(success)

    def arms(self) -> tuple[ArmFigures, ...]:
        """See ProblemSource: of each example, with `variation` as its value; none of more than SHOWN."""
        return self._figures

    def _use(self, problems: Sequence[Problem]) -> None:
        self._problems = self._settings.order(problems, self._rng)
        self._turns = cycle(self._problems)


def different(task: Task, count: int, fits: Fits) -> list[Problem]:
    """The first `count` different problems of a task that fit; the same ones at every call. Raises DataError
    if there are fewer."""
    found: dict[str, Problem] = {}
    repeated = 0
    for problem in fitting(task, random.Random(0), fits):
        if len(found) == count or repeated > MISSES:
            break
        repeated = repeated + 1 if problem.same in found else 0
        found.setdefault(problem.same, problem)
    if len(found) < count:
        raise DataError(
            f"{task.name}: only {len(found)} different problems were found, not {count}",
            "practise fewer examples, or take wider settings",
        )
    return list(found.values())
