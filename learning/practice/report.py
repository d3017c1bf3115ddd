"""What was practised in a span of time, and gained: the morning report. Imports no torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from learning.journal.journal import Journal
from learning.protocol.events import PracticeDone

DAY = 86_400.0
"""Seconds."""
_PREFIX = "practice/"


@dataclass(frozen=True)
class Gain:
    """Of one task."""

    task: str
    """With its settings, where some were given."""
    steps: int
    seconds: float
    accuracy_before: float
    """Held-out accuracy at the first look in the span, 0 to 1."""
    accuracy_after: float
    """At the last look."""
    looks: int


def measure_name(task: str, what: str, settings: Sequence[str] = (), data: str = "") -> str:
    """Of a measure in the journal: "practice/syllogism/accuracy". Other settings, or other problems, are
    another task: what was measured of one says nothing of the other."""
    return f"{_PREFIX}{' '.join([task, *sorted(settings), *([data] if data else [])])}/{what}"


def gains(journal: Journal, seconds: float, *, now: float | None = None) -> list[Gain]:
    """Of every task that was practised in the last `seconds`, those practised longest first."""
    since = (time.time() if now is None else now) - seconds
    found = []
    for task in _tasks(journal):
        looks = _since(journal, measure_name(task, "accuracy"), since)
        spent = sum(_since(journal, measure_name(task, "seconds"), since))
        if looks and spent:
            steps = sum(_since(journal, measure_name(task, "steps"), since))
            found.append(Gain(task, int(steps), spent, looks[0], looks[-1], len(looks)))
    return sorted(found, key=lambda gain: -gain.seconds)


def together(runs: Sequence[PracticeDone]) -> PracticeDone:
    """Runs of one task, one after the other and at least one, as a single run; those that ended before
    anything was measured count only where there are no others."""
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
    )


def _tasks(journal: Journal) -> list[str]:
    rows = journal.rows("SELECT DISTINCT name FROM measures WHERE name LIKE ?", f"{_PREFIX}%/steps")
    return [str(name)[len(_PREFIX) : -len("/steps")] for (name,) in rows]


def _since(journal: Journal, name: str, since: float) -> list[float]:
    return [value for created, value in journal.measures(name) if created >= since]
