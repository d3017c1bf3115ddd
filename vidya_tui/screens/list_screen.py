"""Base class of screens with a list: a search line, rows, and the details of the row under the cursor.

Also asks the teacher, one page at a time, which of the visible rows the model knows. Left out: the
contents of the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from engine.errors import VidyaError
from learning.protocol.events import (
    Checked,
    Event,
    Failed,
    LessonDone,
    Ready,
    TeacherEnded,
    TrainDone,
    UndoDone,
)
from learning.protocol.requests import Check, Probe
from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.drafts import About
from vidya_tui.screens.base import Result, SubScreen
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.line_field import LineField
from vidya_tui.widgets.row_list import RowList

Row = TypeVar("Row")

REST = 0.08
"""Seconds without a key press before the list is searched or the details are shown."""
AT_ONCE = 64
"""Most rows per Check request."""


class ListRoom(SubScreen[Result], Generic[Result, Row]):
    """Subclasses define the rows by `find_keys`, `fetch`, `line`, `detail` and `parts`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash,ctrl+f", "find", "find"),
        Binding("tab", "other", "the list"),
        # these arrive here only while the search line has the focus
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]
    LETTERS: ClassVar[frozenset[str]] = frozenset({"find"})
    """Actions whose keys are letters, which are typed while the search line has the focus."""
    SEARCH_FIRST = False
    """If True, the search line has the focus at first, and Enter in it opens the first row found. If
    False, Enter in it moves to the list."""
    PLACEHOLDER = "words to find"
    EMPTY = "nothing here yet"
    EMPTY_FOUND = "nothing was found"

    def __init__(self, place: ScreenContext, search: str = "") -> None:
        super().__init__(place)
        self.find = LineField(search, placeholder=self.PLACEHOLDER, compact=True, id="find")
        self.rows: RowList[Row] = RowList(self.fetch, self.line, id="rows")
        self.detail_text = Static("", markup=False, id="detail-text")
        self._searching: Timer | None = None
        self._resting: Timer | None = None
        self._known: dict[int, bool] = {}
        self._asked: dict[int, list[int]] = {}
        """Key of a Check -> keys of its rows."""
        self._cannot_check = False

    # ------------------------------------------------------------ what subclasses say

    def find_keys(self, search: str) -> Sequence[int]:
        """Keys of all rows to show, in order. May raise VidyaError."""
        raise NotImplementedError

    def fetch(self, keys: Sequence[int]) -> dict[int, Row]:
        """The rows for some keys."""
        raise NotImplementedError

    def line(self, row: Row, width: int) -> Content:
        """A row as one line of `width` columns."""
        raise NotImplementedError

    def detail(self, row: Row) -> Content:
        """The details of a row."""
        raise NotImplementedError

    def empty(self) -> str:
        """The text shown if there are no rows and no search."""
        return self.EMPTY

    def parts(self) -> Sequence[str]:
        """The parts of the heading."""
        raise NotImplementedError

    def probe(self, row: Row) -> Probe | None:
        """The probe that checks whether the model knows a row; None if it need not know it."""
        return None

    # ------------------------------------------------------------ what is typed

    def typed(
        self,
        about: About,
        texts: Sequence[str],
        begun: Sequence[str],
        change: Callable[[], bool] | None,
        key: str,
    ) -> None:
        """Handles the texts of a closed dialog that was opened with `begun`. change: saves them, returns
        False on an error; None: the owner left. Unsaved texts become a draft; key: reopens the dialog."""
        drafts = self.place.controller.drafts
        kept = drafts.left(about, texts, [plain(text) for text in begun])
        if change is None:
            if kept:
                self.question.say(f"not saved; {key} opens it again as you left it, until you quit")
        elif change():
            drafts.done(about)

    # ------------------------------------------------------------ the screen

    def body(self) -> ComposeResult:
        yield self.find
        with Container(id="middle-room"):
            yield self.rows
            with VerticalScroll(id="detail", can_focus=False):
                yield self.detail_text

    def on_mount(self) -> None:
        self.reload()
        self.set_focus(self.find if self.SEARCH_FIRST else self.rows)

    def reload(self, at: int | None = None) -> None:
        """Searches the rows again. at: key of the row to move to."""
        search = self.find.value.strip()
        try:
            keys: Sequence[int] = self.find_keys(search)
        except VidyaError as error:
            keys = ()
            self.question.say(str(error), trouble=True)
        self.rows.empty = self.EMPTY_FOUND if search else self.empty()
        self.rows.show(keys, at)
        self.head(*self.parts())
        self._rest()

    @on(LineField.Changed, "#find")
    def _typed(self) -> None:
        if self._searching is not None:
            self._searching.stop()
        self._searching = self.set_timer(REST, self._search)

    def _search(self) -> None:
        self._searching = None
        self.reload()

    @on(LineField.Submitted, "#find")
    def _entered(self) -> None:
        if self.SEARCH_FIRST:
            self.action_open()
        else:
            self.action_other()

    @on(RowList.Chosen)
    def _chosen(self) -> None:
        self.action_open()

    @on(RowList.Moved)
    def _moved(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._rest)

    def _rest(self) -> None:
        """After the cursor rests: shows the details and requests checks of the visible rows."""
        self._resting = None
        if not self.is_attached:
            return
        self.show_detail()
        self.check_rows(self.rows.in_sight())
        self.refresh_bindings()

    def show_detail(self) -> None:
        """Shows the details of the row under the cursor."""
        try:
            row = self.rows.row
            self.detail_text.update(Content("") if row is None else self.detail(row))
        except VidyaError as error:
            self.detail_text.update(Content(plain(str(error))))

    def current(self) -> Row | None:
        """The row under the cursor; runs a pending search first."""
        if self._searching is not None:
            self._searching.stop()
            self._search()
        return self.rows.row

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "other":
            return self.focused is self.find
        if self.focused is self.find and action in self.LETTERS:
            return False
        return self.allows(action)

    def allows(self, action: str) -> bool:
        """True if an action is available now."""
        return True

    def action_find(self) -> None:
        self.set_focus(self.find)

    def action_other(self) -> None:
        self.set_focus(self.rows)

    def action_move(self, step: int) -> None:
        self.rows.action_move(step)

    def action_page(self, pages: int) -> None:
        self.rows.action_page(pages)

    def action_open(self) -> None:
        """Called for Enter in the list and for a double click."""

    # ------------------------------------------------------------ what the model knows

    def known(self, key: int) -> bool | None:
        """True if the model knows a row now; None if not checked yet."""
        return self._known.get(key)

    def check_rows(self, keys: Sequence[int]) -> None:
        """Requests checks of rows that were not checked since the weights changed."""
        under_way = {key for keys in self._asked.values() for key in keys}
        wanted = [key for key in keys if key not in self._known and key not in under_way]
        if not wanted or self._cannot_check:
            return
        probes = {key: self.probe(row) for key, row in self.fetch(wanted[:AT_ONCE]).items()}
        asked = {key: probe for key, probe in probes.items() if probe is not None}
        if asked:
            number = time.monotonic_ns()
            self._asked[number] = list(asked)
            self.place.teacher.send(Check(number, tuple(asked.values())))

    def hear(self, events: Sequence[Event]) -> None:
        changed = checked = False
        for event in events:
            if isinstance(event, Checked) and event.key in self._asked:
                keys = self._asked.pop(event.key)
                self._known.update(zip(keys, event.known, strict=False))
                checked = True
                if event.trouble:  # do not ask again until the weights change
                    self._cannot_check = True
                    self.question.say(event.trouble, trouble=True)
            elif isinstance(event, LessonDone | UndoDone | TrainDone | Ready):
                changed = True
            elif isinstance(event, TeacherEnded):
                self._asked.clear()
            elif isinstance(event, Failed) and event.where == "worker" and self._asked:
                self._asked.clear()
                self._cannot_check = True  # each further request would fail in the same way
                self.question.say(event.what, trouble=True)
        if changed:
            self._known.clear()
            self._asked.clear()
            self._cannot_check = False
            self.weights_changed()
        elif checked:
            self.rows_checked()

    def weights_changed(self) -> None:
        """Called after something was learned or undone."""
        self.reload()

    def rows_checked(self) -> None:
        """Called when results of a check arrived."""
        self.rows.refresh()
        self.show_detail()
