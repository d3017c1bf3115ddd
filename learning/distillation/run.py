"""One distillation from the first measurement to the last: steps, save points, and when to end.

At a save point the guard judges the book and earlier lessons; what passes is published. What does not
pass is mended a few times, else the run ends with the weights of the last save point. Left out: how
weights are published (learning.memory.save_points).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from engine.errors import NumericsError
from learning.distillation.student import Student, answer_loss
from learning.distillation.targets import SoftExample
from learning.memory.retention import examined, rehearse
from learning.memory.save_points import SavePoints

Ended = Literal["steps", "stopped", "rolled_back"]


@dataclass(frozen=True)
class SavePoint:
    """The measurements before the first step, or at a save point."""

    step: int
    steps: int
    """Of the whole run."""
    loss: float
    """Mean loss on the answers since the last save point, in nats a token; nan before the first."""
    held_out: float
    """Cross-entropy to the teacher on answers that are not learned, in nats a token."""
    book_recall: float
    """Exact recall, 0 to 1."""
    saved: bool
    """Published, so that answers are generated from it."""
    seconds: float
    """Since the first measurement began."""


@dataclass(frozen=True)
class DistillationResult:
    """The result of a run."""

    ended: Ended
    why: str
    """In plain words; empty where all steps were taken."""
    before: SavePoint
    last: SavePoint
    """Of the weights that are kept."""


def distil(
    student: Student,
    held_out: Sequence[SoftExample],
    weights: SavePoints,
    *,
    note: str,
    report: Callable[[SavePoint], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    pause: Callable[[], None] = lambda: None,
) -> DistillationResult:
    """Runs to the end, or until `stop`, which is asked before every step; what was learned until then
    is judged and saved. note: stands with each publication. Raises what publication raises; the
    weights are then those of the last save point."""
    started = time.monotonic()

    def measured(loss: float, recall: float, saved: bool) -> SavePoint:
        return SavePoint(
            student.step_number,
            student.steps,
            loss,
            answer_loss(student.model, held_out, pause=pause),
            recall,
            saved,
            time.monotonic() - started,
        )

    before = last = measured(math.nan, student.retention.book_before, False)
    report(before)
    ended: Ended = "steps"
    why, losses = "", list[float]()
    try:
        while ended == "steps" and student.step_number < student.steps:
            if stop():
                ended, why = "stopped", "stopped; what was learned so far is kept"
            else:
                losses.append(student.step())
                due = student.step_number % student.settings.save_every == 0
                if not due and student.step_number < student.steps:
                    continue
            if not losses:
                break
            if why_not := _forgotten(student):
                raise _Refused(why_not)
            weights.save(f"{note}, step {student.step_number}")
            last = measured(fmean(losses), student.retention.book_recall, True)
            losses.clear()
            report(last)
    except _Refused as refused:
        ended, why = "rolled_back", f"{refused}; the weights are those of the last save point again"
        weights.restore()
    except NumericsError as error:
        ended, why = "rolled_back", f"{error.what}; {error.next_step}"
        weights.restore()
    except BaseException:
        weights.restore()
        raise
    return DistillationResult(ended, why, before, last)


class _Refused(Exception):  # noqa: N818 - not an error: the guard's verdict ends the steps
    """The guard did not let the weights through."""


def _forgotten(student: Student) -> str:
    """Why the guard refuses the weights, also after a rehearsal; empty where it does not."""
    keeper, model = student.retention, student.model
    verdict = examined(keeper, model)
    if not verdict.passed and verdict.book_recall > 0.0:
        rehearse(student.mend, lambda: examined(keeper, model).passed)
        verdict = examined(keeper, model)
    return "" if verdict.passed else verdict.reason
