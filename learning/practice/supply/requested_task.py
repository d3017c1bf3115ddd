"""Opens the task that a request names, or several as one, and makes the source of their problems."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from learning.curriculum.methods import ArmChoice
from learning.practice.background import BackgroundScorer
from learning.practice.settings import PracticeSettings
from learning.practice.supply.arms import difficulty, refuse_alone, split_arm
from learning.practice.supply.few import FewSource
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.supply.source import Fits, ProblemSource, SingleSource
from learning.protocol.requests import Practise
from learning.rewards.asked import AskedTask
from learning.rewards.dialogue import DialogueTask
from learning.rewards.owner import OwnerData
from learning.rewards.task import Task, TaskOptions
from learning.rewards.tasks.taste import TasteTask
from learning.rewards.tools import ToolTask


class RequestedTask:
    """What a request practises."""

    def __init__(
        self,
        request: Practise,
        settings: PracticeSettings,
        owner: OwnerData,
        pause: Callable[[], None],
        find: Callable[[str, TaskOptions], Task],
    ) -> None:
        """pause: called while programs are awaited in idle practice. find: makes a task from its name. Raises
        NotFound for an unknown task, ConfigError for settings or data that it cannot use."""
        self._request, self._settings, self._owner = request, settings, owner
        self._pause, self._find = pause, find
        self.choice: ArmChoice | None = None
        """Among the arms, where there are several."""
        self.taste: TasteTask | None = None
        """The task without a wrapper, where that is what is practised."""
        self.task: Task = self._open()

    def source(self, task: Task, rng: random.Random, fits: Fits) -> ProblemSource:
        """The problems of `task`: by a curriculum where there are arms, else a few of them or new ones."""
        if isinstance(task, TaskMixture) and self.choice is not None:
            return CurriculumSource(task, self.choice, rng, fits, warm_each=self._request.climbs)
        if self._settings.few.examples:
            return FewSource(task, rng, fits, self._settings.few)
        return SingleSource(task, rng, fits)

    def _open(self) -> Task:
        request = self._request
        small = self._owner.policy.config.parameters < self._settings.field_below

        def opened(name: str, settings: tuple[str, ...]) -> Task:
            options = TaskOptions(
                data=Path(request.data) if request.data else None,
                difficulty=difficulty(settings),
                needs_field=small,
                owner=self._owner,
            )
            task = self._find(name, options)
            if isinstance(task, DialogueTask | AskedTask | ToolTask):
                return task  # scored at once; programs run aside
            self.taste = task if isinstance(task, TasteTask) else None
            return BackgroundScorer(task, self._pause) if request.idle else task

        if not request.arms:
            return opened(request.task, request.settings)
        refuse_alone(request.arms)
        self.choice = ArmChoice(len(request.arms), self._settings.curriculum, request.own_arms)
        return TaskMixture({arm: opened(*split_arm(arm)) for arm in request.arms})
