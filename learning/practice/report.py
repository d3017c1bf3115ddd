"""The morning report: practice in a span of time and its gains. Imports no torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from learning.journal.journal import Journal
from learning.practice.supply.arms import arm_name
from learning.protocol.events import PracticeDone

DAY = 86_400.0
"""Seconds."""
_PREFIX = "practice/"


@dataclass(frozen=True)
class Gain:
    """Practice of one task in a span of time."""

    task: str
    """Name of the task, with its settings if any were given."""
    steps: int
    seconds: float
    accuracy_before: float
    """First held-out accuracy measured in the span, 0 to 1."""
    accuracy_after: float
    """Last held-out accuracy measured in the span, 0 to 1."""
    measurements: int
    """Number of measurements."""


def measure_name(task: str, what: str, settings: Sequence[str] = (), data: str = "") -> str:
    """Name of a measure in the journal, such as "practice/syllogism/accuracy". Settings and data are part
    of it, because measurements under different ones are not comparable."""
    return f"{_PREFIX}{' '.join([arm_name(task, settings), *([data] if data else [])])}/{what}"


def gains(journal: Journal, seconds: float, *, now: float | None = None) -> list[Gain]:
    """Gains of all tasks practised in the last `seconds`, longest practice first. now: Unix time in
    seconds."""
    since = (time.time() if now is None else now) - seconds
    found = []
    for task in _tasks(journal):
        measurements = _since(journal, measure_name(task, "accuracy"), since)
        spent = sum(_since(journal, measure_name(task, "seconds"), since))
        if measurements and spent:
            steps = sum(_since(journal, measure_name(task, "steps"), since))
            found.append(
                Gain(task, int(steps), spent, measurements[0], measurements[-1], len(measurements))
            )
    return sorted(found, key=lambda gain: -gain.seconds)


def together(runs: Sequence[PracticeDone]) -> PracticeDone:
    """Combines consecutive runs (at least one) of one task into one. Runs that ended before any
    measurement are ignored unless there are no others."""
    measured = [run for run in runs if run.accuracy_before is not None]
    if not measured:
        return runs[-1]
    first, last = measured[0], measured[-1]
    warmed = [run.accuracy_warm for run in measured if run.warm_up_steps]
    return replace(
        last,
        steps=sum(run.steps for run in measured),
        warm_up_steps=sum(run.warm_up_steps for run in measured),
        accuracy_before=first.accuracy_before,
        accuracy_warm=warmed[-1] if warmed else None,
        book_before=first.book_before,
        seconds=sum(run.seconds for run in measured),
        alarm=next((run.alarm for run in reversed(measured) if run.alarm), ""),
        saves=sum(run.saves for run in measured),
        arms_before={**last.arms_before, **first.arms_before},
        joined=tuple(dict.fromkeys(rung for run in runs for rung in run.joined)),
        asked_before=first.asked_before or last.asked_before,
        asked_after=last.asked_after or first.asked_after,
    )


def _tasks(journal: Journal) -> list[str]:
    rows = journal.rows("SELECT DISTINCT name FROM measures WHERE name LIKE ?", f"{_PREFIX}%/steps")
    return [str(name)[len(_PREFIX) : -len("/steps")] for (name,) in rows]


def _since(journal: Journal, name: str, since: float) -> list[float]:
    return [value for created, value in journal.measures(name) if created >= since]
