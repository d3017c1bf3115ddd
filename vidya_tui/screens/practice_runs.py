"""The list of the runs of practice, newest first: what was practised when, how far, what it gained, how it
ended, and under which lesson. Left out: the answers of a run, which the practice screen shows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from learning.journal.practices import PracticeListed, listed_practices, practice_ids
from learning.protocol.events import Event, PracticeDone
from learning.protocol.practice_events import PracticeStarted
from vidya_tui.controller.context import ScreenContext
from vidya_tui.screens.list_screen import ListRoom
from vidya_tui.state import practice_runs as words
from vidya_tui.state.lessons import quote
from vidya_tui.text.dates import when, when_short
from vidya_tui.text.numbers import counted

ROOM_FOR_LESSONS = 100
"""Width, in columns, from which rows show the full date and the lesson."""


class PracticeRunsScreen(ListRoom[int | None, PracticeListed]):
    """`r` on the practice screen, and `/practice runs`. Returns the run whose answers are to be shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "its answers")]
    PLACEHOLDER = "find a run by its task, its settings or its model"
    EMPTY = words.EMPTY

    def __init__(self, place: ScreenContext, search: str = "", at: int | None = None) -> None:
        """at: the run that the cursor is on at first."""
        super().__init__(place, search)
        self._at = at

    def on_mount(self) -> None:
        self.reload(self._at)

    # ------------------------------------------------------------ what is shown

    def find_keys(self, search: str) -> Sequence[int]:
        return practice_ids(self.place.journal, search)

    def fetch(self, keys: Sequence[int]) -> dict[int, PracticeListed]:
        return {run.entry.id: run for run in listed_practices(self.place.journal, keys)}

    def parts(self) -> Sequence[str]:
        search = self.find.value.strip()
        return "runs of practice", f"{len(self.rows.keys):,}", search and f"with {quote(search)}"

    def line(self, row: PracticeListed, width: int) -> Content:
        entry, now, wide = row.entry, time.time(), width >= ROOM_FOR_LESSONS
        at = (when if wide else when_short)(entry.created, now)
        lesson = f"{words.lesson_short(row):<12} " if wide else ""
        figures = f"{counted(row.steps, 'step'):>11}  {words.gain(entry):<13} "
        return Content.assemble(
            (f"{at} {figures}", "$foreground 60%"),
            (f"{words.ending(entry):<9} ", "" if entry.outcome else "dim"),
            (lesson, "$foreground 60%"),
            words.name(entry),
        )

    def detail(self, row: PracticeListed) -> Content:
        kept = f"{counted(row.samples, 'answer')} kept" if row.samples else "no answer was kept"
        lines = [*words.facts(row, time.time()), kept]
        return Content.assemble((words.name(row.entry), "bold"), "\n" + "\n".join(lines))

    # ------------------------------------------------------------ keys and events

    def allows(self, action: str) -> bool:
        return action != "open" or bool(self.rows.keys)

    def action_open(self) -> None:
        if row := self.current():
            self.dismiss(row.entry.id)

    def action_leave(self) -> None:
        self.dismiss(None)

    def hear(self, events: Sequence[Event]) -> None:
        super().hear(events)
        if any(isinstance(event, PracticeStarted | PracticeDone) for event in events):
            self.reload()
