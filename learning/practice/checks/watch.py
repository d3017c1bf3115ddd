"""Chooses what watches a run for a reward that is fooled, and what its owner is advised after an alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from learning.journal.journal import Journal
from learning.maths.alarm import Signs
from learning.practice.checks.signs import TasteSigns, count_signs
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.self_play.trainer import ADVICE, SelfPlayTrainer
from learning.practice.supply.mixture import TaskMixture
from learning.practice.trainer import GrpoTrainer
from learning.rewards.reward_data import preferences, split
from learning.rewards.task import Task
from learning.rewards.tasks.taste import TasteTask
from learning.rewards.tools import ToolTask

TASTE_ADVICE = (
    "`/taste` (press a) or `vidya reward ask` shows you answers in dispute: ten picks among these teach your "
    "taste where it is unsure"
)


@dataclass(frozen=True)
class Watch:
    """What PracticeRun asks at every save point."""

    signs: Callable[[HeldOut], Signs] | None
    """None where a program knows all that is paid."""
    advice: str
    """What to do after an alarm that ends the run; a sentence."""


def watch_of(
    session: GrpoTrainer,
    task: Task,
    taste: TasteTask | None,
    journal: Journal,
    run: int | None,
    pause: Callable[[], None],
) -> Watch:
    """taste: the task without a wrapper, where that is what is practised. run: its id in the journal."""
    if isinstance(session, SelfPlayTrainer):
        return Watch(session.signs, ADVICE)
    if taste is not None:
        choices = split(preferences(journal)).held_out.choices
        return Watch(TasteSigns(session, taste, choices, pause=pause), TASTE_ADVICE)
    shown = f"`vidya practice --samples {run}` shows what was paid for"
    tasks = task.tasks.values() if isinstance(task, TaskMixture) else (task,)
    calls = any(isinstance(one, ToolTask) for one in tasks)
    return Watch(count_signs if calls else None, shown)
