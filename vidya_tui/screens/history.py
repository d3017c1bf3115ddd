"""The history screen: searches earlier conversations; reopens, renames, exports or erases one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from learning.journal.conversations import (
    LONGEST_TITLE,
    Conversation,
    Listing,
    conversations,
    listing,
)
from learning.journal.search import excerpt, read_query, spans
from learning.protocol.events import Event, Forgotten
from learning.protocol.requests import Forget
from vidya_tui.commands.parse import RunCommand, find
from vidya_tui.controller.context import ScreenContext
from vidya_tui.controller.export import export_conversation
from vidya_tui.screens.list_screen import ListRoom
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state.lessons import quote
from vidya_tui.state.transcript import NAMES
from vidya_tui.text.dates import when
from vidya_tui.text.numbers import counted
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.line_field import LineField

SHOWN_TURNS = 12
"""Last turns of a conversation that are shown beside the list."""


class HistoryScreen(ListRoom[int | None, Conversation]):
    """`/history`. Returns the conversation to reopen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "reopen"),
        Binding("r", "rename", "rename"),
        Binding("d,delete", "erase", "erase", key_display="d"),
        Binding("m", "export('md')", "Markdown"),
        Binding("j", "export('json')", "JSON"),
    ]
    LETTERS = frozenset({"find", "rename", "erase", "export"})
    PLACEHOLDER = "find words that were said; enter reopens, tab goes to the list"
    SEARCH_FIRST = True
    EMPTY = "No conversation yet: go back and say something."

    def __init__(self, place: ScreenContext, search: str = "") -> None:
        super().__init__(place, search)
        self._listing = Listing((), {})
        self._words: tuple[str, ...] = ()
        self._erasing = set[int]()

    # ------------------------------------------------------------ what is shown

    def find_keys(self, search: str) -> Sequence[int]:
        self._listing = listing(self.place.journal, search)
        self._words = read_query(search).words
        return self._listing.ids

    def fetch(self, keys: Sequence[int]) -> dict[int, Conversation]:
        found = conversations(self.place.journal, self._listing, keys)
        return {conversation.id: conversation for conversation in found}

    def parts(self) -> Sequence[str]:
        search = self.find.value.strip()
        return "conversations", f"{len(self.rows.keys):,}", search and f"with {quote(search)}"

    def line(self, row: Conversation, width: int) -> Content:
        open_now = row.id == self.place.session.conversation
        head = f"{when(row.last, time.time())} {row.turns:>5}  "
        room = max(10, width - len(head))
        if not row.found or row.found == row.title:
            text = Content(one_line(row.title, room))
        else:
            title = one_line(row.title, max(12, room // 3))
            found = excerpt(plain(row.found), self._words, max(10, room - len(title) - 3))
            text = Content(title).append(Content.styled(f" \u2026 {one_line(found)}", "dim"))
        marked = self._marked(text)
        return Content.assemble(
            (head, "$foreground 60%"), marked.stylize("bold") if open_now else marked
        )

    def detail(self, row: Conversation) -> Content:
        turns = self.place.journal.turns(row.id)
        lines = [Content.styled(one_line(row.title, 200), "bold")]
        parts = [_count(row.turns, "turn"), f"begun {when(row.created, time.time()).strip()}"]
        if row.id == self.place.session.conversation:
            parts.append("open now")
        lines.append(Content.styled(" \u00b7 ".join(parts), "$foreground 60%"))
        if row.found:
            lines.append(
                self._marked(Content("\u2026 " + plain(excerpt(row.found, self._words, 300))))
            )
        for turn in turns[-SHOWN_TURNS:]:
            who = f"{NAMES[turn.role]}:".ljust(7)
            said = self._marked(Content(one_line(turn.text, 400)))
            lines.append(Content.assemble((who, "$foreground 60%"), said))
        return Content("\n").join(lines)

    def _marked(self, text: Content) -> Content:
        for start, end in spans(text.plain, self._words) if self._words else ():
            text = text.stylize("bold $accent", start, end)
        return text

    # ------------------------------------------------------------ keys

    def allows(self, action: str) -> bool:
        if action in ("open", "rename", "erase", "export"):
            return bool(self.rows.keys)
        return True

    def action_open(self) -> None:
        if not (row := self.current()):
            return
        if row.id in self._erasing:
            self.question.say("it is being erased", trouble=True)
        else:
            self.dismiss(row.id)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_rename(self) -> None:
        if row := self.current():
            self.app.push_screen(TitleScreen(row.title), lambda title: self._renamed(row, title))

    def _renamed(self, row: Conversation, title: str | None) -> None:
        if title is None:
            return

        def work() -> str:
            self.place.journal.rename(row.id, title)
            return (
                f"called {quote(title)}"
                if title.strip()
                else "its first message is its title again"
            )

        self.attempt(work)
        self.reload(row.id)

    def action_export(self, form: str) -> None:
        if row := self.current():

            def work() -> str:
                turns = self.place.journal.turns(row.id)
                return f"written to {export_conversation(self.place.home, row, turns, form)}"

            self.attempt(work)

    def action_erase(self) -> None:
        if row := self.current():
            doomed = self.place.journal.to_forget(conversation=row.id)
            what = (
                f"{_count(len(doomed.asks), 'message')} and {_count(len(doomed.lessons), 'lesson')}"
            )
            words = f"Erase {quote(row.title, 40)} for ever, {what}?"
            self.question.ask(words, lambda: self._erase(row.id))

    def _erase(self, conversation: int, *, keep_weights: bool = False) -> None:
        if self.place.session.conversation == conversation:
            self.place.controller.carry_out(RunCommand(find("new")))
        self._erasing.add(conversation)
        self.question.say("erasing \u2026")
        self.place.teacher.send(Forget(conversation, keep_weights))

    def hear(self, events: Sequence[Event]) -> None:
        super().hear(events)
        for event in events:
            if isinstance(event, Forgotten):
                self._forgotten(event)

    def _forgotten(self, event: Forgotten) -> None:
        self._erasing.discard(event.conversation)
        if event.trouble:
            self.question.ask(
                f"{event.trouble}. Erase it from journal and book, and leave the weights?",
                lambda: self._erase(event.conversation, keep_weights=True),
            )
            return
        book = f", {counted(event.book_lines, 'line')} of your book" if event.book_lines else ""
        again = "; later lessons are learned again" if event.went_back else ""
        again += ", practice since then is lost" if event.practice_lost else ""
        erased = counted(event.records, "message or lesson", "messages and lessons")
        names = ", ".join(event.unvouched)
        unsure = f"; {names} may still know it (`vidya model remove`)" if names else ""
        self.question.say(f"erased: {erased}{book}{again}{unsure}")
        self.reload()

    def weights_changed(self) -> None:
        """The list does not depend on the weights."""


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


class TitleScreen(Steady, ModalScreen[str | None]):
    """A dialog for a title. Returns None if it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave it"),
        Binding("enter", "save", "save"),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = one_line(title, LONGEST_TITLE)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="titling"):
            yield Static("What is it called? (empty: its first message)", classes="title")
            yield LineField(self._title, max_length=LONGEST_TITLE, id="title-field")
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.set_focus(self.query_one(LineField))

    @on(LineField.Submitted)
    def action_save(self) -> None:
        self.dismiss(self.query_one(LineField).value)

    def action_leave(self) -> None:
        self.dismiss(None)
