"""The lessons screen: all lessons, also unjudged ones, newest first, with their state and whether the model
knows them now; teaches a lesson again, edits it, or withdraws it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from learning.journal.lesson_list import Taught, taught, taught_ids
from learning.protocol.requests import Probe
from vidya_tui.controller.context import ScreenContext
from vidya_tui.screens.list_screen import ListRoom
from vidya_tui.state import lessons as words
from vidya_tui.state.transcript import NAMES
from vidya_tui.text.dates import when, when_short
from vidya_tui.text.sanitise import one_line, plain

SHOW_WORDS = {
    "all": "",
    "waiting": "waiting",
    "learned": "learned",
    "needs_practice": "needs practice",
    "taken_back": "taken back",
    "not_known": "not known now",
    "judged": "what you judged",
    "unjudged": "what you did not judge",
}
"""The filters that `f` cycles through -> their titles. For "not_known" the model is asked."""
NONE = {
    "waiting": "No lesson waits to be learned.",
    "learned": "No lesson is learned yet.",
    "needs_practice": "No lesson needs practice.",
    "taken_back": "You have taken back no lesson.",
    "not_known": "The model knows all that it was asked about.",
    "judged": "You have judged no answer yet.",
    "unjudged": "There is nothing that you did not judge.",
}
"""What stands there if a filter finds nothing; the journal may have other lessons."""
SHOWS = tuple(SHOW_WORDS)
ROOM_FOR_DATES = 100
"""Width, in columns, from which rows show the full date."""
SWEEP = 256
"""Lessons read at a time while all are being checked."""


class LessonsScreen(ListRoom[None, Taught]):
    """`/lessons`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "again", "teach again"),
        Binding("e,enter", "edit", "edit", key_display="e"),
        Binding("w,delete", "withdraw", "withdraw", key_display="w"),
        Binding("b", "compare", "before/after"),
        Binding("f", "filter", "filter"),
    ]
    LETTERS = frozenset({"find", "again", "edit", "withdraw", "compare", "filter"})
    PLACEHOLDER = "find a lesson by its words"
    EMPTY = "Nothing was taught yet: pick an answer, or /correct it in the chat."

    def __init__(self, place: ScreenContext, search: str = "") -> None:
        super().__init__(place, search)
        self.shows = "all"
        self._all: list[int] = []

    # ------------------------------------------------------------ what is shown

    def empty(self) -> str:
        return NONE.get(self.shows, self.EMPTY)

    def find_keys(self, search: str) -> Sequence[int]:
        if self.shows != "not_known":
            self._all = taught_ids(self.place.journal, search, self.shows)  # type: ignore[arg-type]
            return self._all
        self._all = taught_ids(self.place.journal, search)
        self._sweep()
        return [key for key in self._all if self.known(key) is False]

    def fetch(self, keys: Sequence[int]) -> dict[int, Taught]:
        return {one.lesson.id: one for one in taught(self.place.journal, keys)}

    def parts(self) -> Sequence[str]:
        shown, total = len(self.rows.keys), len(self._all)
        count = f"{shown:,}" if shown == total else f"{shown:,} of {total:,}"
        if self.shows == "not_known":
            checked = sum(key in self._known for key in self._all)
            left = total - checked
            return "lessons", count, "not known now", f"{left:,} not checked" if left else ""
        return "lessons", count, SHOW_WORDS[self.shows]

    def line(self, row: Taught, width: int) -> Content:
        due, lesson = words.due(row), row.lesson
        now = time.time()
        # the detail below the list has the full date
        at = (when if width >= ROOM_FOR_DATES else when_short)(row.created, now)
        head = f"{at} {words.KINDS[lesson.kind]:<9} "
        state = f"{words.state(row):<10} "
        mark = words.mark(self.known(lesson.id), due)
        return Content.assemble(
            (head, "$foreground 60%"),
            (state, "" if due else "dim"),
            (f"{mark} ", "$success" if mark == "\u2713" else "$warning"),
            words.short(lesson, width - len(head) - len(state) - len(mark) - 1),
        )

    def detail(self, row: Taught) -> Content:
        lesson, now = row.lesson, time.time()
        since = when(row.since, now).strip()
        lines = [
            f"lesson {lesson.id}, {words.LONG_KINDS[lesson.kind]} {when(row.created, now).strip()}",
            f"{words.long_state(row)} ({since})",
            words.known_words(self.known(lesson.id), words.due(row), row.unjudged),
        ]
        if measured := words.measured(row, now):
            lines.append(measured)
        if row.replaced_by:
            lines.append(f"lesson {row.replaced_by} says something else since")
        if led := words.led_to(row):
            lines.append(led)
        before = [
            f"{NAMES[turn.role]}: {one_line(turn.text, 200)}" for turn in lesson.prompt[-3:-1]
        ]
        asked = [f"{NAMES[turn.role]}: {plain(turn.text)}" for turn in lesson.prompt[-1:]]
        who = NAMES["user" if lesson.kind == "owner_words" else "assistant"]
        said = [f"{who}: {plain(lesson.answer)}"] if lesson.answer else []
        label = "of" if lesson.blame else "not"
        rest = [
            f"{label}: {one_line(text, 200)}" for text in lesson.rejected if text != lesson.answer
        ]
        return Content.assemble(
            (words.understood(lesson), "bold"),
            "\n" + " \u00b7 ".join(lines) + "\n",
            ("\n".join(["", *before]), "$foreground 60%"),
            "\n".join(["", *asked, *said]),
            ("\n".join(["", *rest]), "$foreground 60%"),
        )

    def probe(self, row: Taught) -> Probe | None:
        return row.probe if words.due(row) else None

    # ------------------------------------------------------------ asking about all

    def _sweep(self) -> None:
        """Requests a check of the next unchecked lessons; its result triggers the next sweep."""
        if not self._asked:
            wanted = [key for key in self._all if key not in self._known][:SWEEP]
            for row in self.fetch(wanted).values():
                if self.probe(row) is None:
                    self._known[row.lesson.id] = True  # the model need not know it
            self.check_rows(wanted)

    def rows_checked(self) -> None:
        super().rows_checked()
        if self.shows == "not_known":
            self.reload()

    # ------------------------------------------------------------ keys

    def allows(self, action: str) -> bool:
        if action in ("again", "edit", "withdraw", "compare"):
            row = self.rows.row if self.is_mounted else None
            if row is None:
                return False
            if row.lesson.kind == "owner_words" and action != "withdraw":
                return False  # such a lesson has no answer
            if action == "again":
                return row.state != "waiting" or row.unjudged
            if action == "withdraw":
                return row.state != "taken_back"
            if action == "compare":
                return row.state != "taken_back" and bool(row.lesson.prompt)
        return True

    def action_filter(self) -> None:
        self.shows = SHOWS[(SHOWS.index(self.shows) + 1) % len(SHOWS)]
        self.reload()

    def action_again(self) -> None:
        if row := self.current():
            self._change(lambda: self.place.revising.teach_again(row))

    def action_withdraw(self) -> None:
        if row := self.current():
            asked = f"Take lesson {row.lesson.id} back: {words.understood(row.lesson)}?"

            def withdraw() -> None:
                self._change(lambda: self.place.revising.withdraw(row))

            self.question.ask(asked, withdraw)

    def action_open(self) -> None:
        self.action_edit()

    def action_edit(self) -> None:
        if not (row := self.current()):
            return
        from vidya_tui.screens.correct import CorrectScreen, Retyped

        about = ("lesson", row.lesson.id)
        text = row.lesson.answer or next(iter(row.lesson.rejected), "")

        def closed(result: Retyped | None) -> None:
            if result is not None:
                edit = partial(self.place.revising.edit, row, result.text)
                save = partial(self._change, edit) if result.saved else None
                self.typed(about, [result.text], [text], save, "e")

        (begun,) = self.place.controller.drafts.get(about, text)
        self.app.push_screen(CorrectScreen(words.question(row.lesson), begun), closed)

    def action_compare(self) -> None:
        if row := self.current():
            from vidya_tui.screens.compare import BeforeAfterScreen

            self.app.push_screen(BeforeAfterScreen(self.place, row.lesson))

    def _change(self, work: Callable[[], str]) -> bool:
        done = self.attempt(work)
        self.reload()
        return done
