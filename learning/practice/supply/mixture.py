"""Several tasks or difficulties as one task, and the source that lets a curriculum choose among them.

Held-out problems are an even mixture whatever is practised, so accuracy keeps its meaning. Which problem is
whose is written on it (`Problem.arm`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import torch

from engine.errors import ConfigError, DataError
from learning.curriculum.interface import Visit
from learning.curriculum.methods import ArmChoice
from learning.maths.policy import centred_advantages
from learning.practice.figures import is_dead, judged
from learning.practice.sampling.rollouts import (
    Drawn,
    Sample,
    best_by_task,
    fitting,
    right_by_arm,
    share_right,
)
from learning.practice.supply.arms import label
from learning.practice.supply.source import Fits, can_begin
from learning.protocol.records import ArmFigures
from learning.rewards.dialogue import DialogueTask
from learning.rewards.task import Problem, Score, Split, Task


class TaskMixture:
    """Implements Task with the problems of several tasks, evenly."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        """tasks: by the name of their arm. Raises ConfigError if there are none."""
        if not tasks:
            raise ConfigError("there is nothing to practise", "name at least one task")
        self.tasks = dict(tasks)

    @property
    def name(self) -> str:
        """All arms in a few words."""
        return label(tuple(self.tasks))

    def describe(self) -> str:
        """See Task."""
        return "; ".join(f"{name}: {task.describe()}" for name, task in self.tasks.items())

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """See Task. One of each task in turn; a task that has no more is left out."""
        streams = {
            name: task.problems(split, random.Random(rng.random()))
            for name, task in self.tasks.items()
        }
        while streams:
            for name in tuple(streams):
                problem = next(streams[name], None)
                if problem is None:
                    del streams[name]
                else:
                    yield replace(problem, arm=name)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task."""
        return self.tasks[problem.arm].score(problem, answers)

    def close(self) -> None:
        """See Task."""
        for task in self.tasks.values():
            task.close()


class CurriculumSource:
    """Problems of the arms that a curriculum chooses, each by itself. Implements ProblemSource.

    A problem that is drawn anew because its answers all had one reward is chosen anew too: with the same
    probabilities, so that what an arm is worth is still the mean over all its groups, dead ones as 0.
    """

    def __init__(
        self,
        mixture: TaskMixture,
        choice: ArmChoice,
        rng: random.Random,
        fits: Fits,
        *,
        warm_each: bool = False,
    ) -> None:
        """choice: among the arms in the order of the mixture; it is changed as they are practised. warm_each:
        whether each arm is warmed up by itself, and not only each task at one of its difficulties."""
        self._choice, self._rng = choice, rng
        self._names = tuple(mixture.tasks)
        self._streams = {
            name: fitting(TaskMixture({name: task}), random.Random(rng.random()), fits)
            for name, task in mixture.tasks.items()
        }
        self._warm_each = warm_each
        self._cold = list(dict.fromkeys(map(self._warmed_as, self._names)))
        """Tasks, or arms, that warm-up has not brought far enough."""
        self._needed: list[str] = []
        """With `warm_each`, the arms that the first look of warm-up found lacking."""
        self._turns = {warm: cycle(self._names) for warm in (False, True)}
        self._often_wrong = {
            n for n, task in mixture.tasks.items() if isinstance(task, DialogueTask)
        }
        """Arms whose worked answers are often wrong: conversations."""
        self._without: set[str] = set()
        """Arms whose problems have no worked answers."""
        self._figures: tuple[ArmFigures, ...] = ()

    def take(self, count: int) -> list[Problem]:
        """See ProblemSource."""
        return [self._next(self._names[arm]) for arm in self._choice.choose(count, self._rng)]

    def learn(self, drawn: Sequence[Drawn]) -> None:
        """See ProblemSource. Groups that could not be judged say nothing. An arm gains by how right its
        answers are; payments inside a conversation do not count."""
        groups = [group for part in drawn for group in part.groups if group]
        own = {name: [g for g in groups if g[0].problem.arm == name] for name in self._names}
        weights = self._choice.probabilities().tolist()
        self._choice.learn(
            [
                Visit(arm, _gain(group), share_right(group))
                for arm, name in enumerate(self._names)
                for group in own[name]
                if is_dead(group) is not None
            ]
        )
        self._figures = tuple(
            ArmFigures(
                name,
                weight,
                value,
                len(own[name]),
                sum(is_dead(group) is True for group in own[name]),
                share_right([s for group in own[name] for s in group]) if own[name] else None,
            )
            for name, weight, value in zip(self._names, weights, self._choice.values(), strict=True)
        )

    def worked(self, count: int, again: float = 0.0) -> list[Problem]:
        """Of the tasks that need warm-up, and of the others where `again` says so, one of each arm in turn.
        Raises DataError if none that needs warm-up has worked answers."""
        rehearsed = self._worked(min(count - 1, round(again * count)), warm=True)
        found = self._worked(count - len(rehearsed), warm=False)
        if len(rehearsed) + len(found) < count:
            raise DataError(
                f"{label(self._names)}: the problems have no worked answers",
                "practise without --warm-up, or give data that has them",
            )
        return [*found, *rehearsed]

    def _worked(self, count: int, *, warm: bool) -> list[Problem]:
        """Takes `count` problems with worked answers, one of each arm in turn: from the warm arms, or from
        the cold ones. Returns none if no such arm has worked answers. Leaves warm conversation tasks out:
        many of their worked answers are wrong."""
        found: list[Problem] = []
        arms = {name for name in self._names if (self._warmed_as(name) not in self._cold) is warm}
        if warm:
            arms -= self._often_wrong
        while len(found) < count and not arms <= self._without:
            name = next(self._turns[warm])
            if name not in arms or name in self._without:
                continue
            problem = self._next(name)
            if problem.worked is None:
                self._without.add(name)
            else:
                found.append(problem)
        return found

    def warmed(self, samples: Sequence[Sample], enough: float) -> float:
        """See ProblemSource. A task is warm when one of its arms is; with `warm_each`, each arm counts by
        itself."""
        success = self._as_warmed(right_by_arm(samples))
        if self._warm_each:
            success = self._needing(success, enough)
        self._cold = [name for name in self._cold if success.get(name, 1.0) < enough] or self._cold
        return min(success.values())

    def coldest(self, success: Mapping[str, float]) -> float:
        """See ProblemSource."""
        return min(self._as_warmed(success).values())

    def arms(self) -> tuple[ArmFigures, ...]:
        """See ProblemSource."""
        return self._figures

    def _as_warmed(self, success: Mapping[str, float]) -> Mapping[str, float]:
        """The success rate by what is warmed up: of each arm, or of each task in the arm done best."""
        return success if self._warm_each else best_by_task(success)

    def _needing(self, success: Mapping[str, float], enough: float) -> Mapping[str, float]:
        """The success rates of the arms for which warm-up began: those with which practice could not begin
        yet, or, where there were none (an interrupted warm-up goes on), those below `enough`. Else an arm
        that warm-up never brings so far would keep it going every night."""
        if not self._needed:
            cold = [name for name in success if not can_begin(success[name], enough)]
            cold = cold or [name for name in success if success[name] < enough]
            self._needed = cold or list(success)
            self._cold = [name for name in self._cold if name in self._needed]
        return {name: success[name] for name in self._needed if name in success}

    def _warmed_as(self, name: str) -> str:
        """What an arm is warmed up as: its task, or itself."""
        return name if self._warm_each else name.split()[0]

    def _next(self, name: str) -> Problem:
        return next(self._streams[name])


def mean_advantage(rewards: Sequence[float]) -> float:
    """mean |r - mean r| of a group: 0 if it is dead, greatest where as many answers are right as wrong.

    rewards: of the judged answers of one group. Not divided by the deviation, which would make a rare
    success look nearly as good as even odds (of four answers one right: 0.375, two: 0.5; divided: 0.75,
    0.87). 2505.14970, eq. 3.
    """
    if len(rewards) < 2:
        return 0.0
    return float(centred_advantages(torch.tensor([list(rewards)])).abs().mean())


def _gain(group: Sequence[Sample]) -> float:
    """How much is to be learned from a group, whatever else than being right was paid."""
    return mean_advantage([sample.score.total for sample in judged(group)])
