"""Earlier conversations: find one by what was said in it, and reopen it."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from engine.errors import VidyaError
from learning.journal import Conversation, Journal
from vidya_tui.plain import one_line
from vidya_tui.screens.steady import Steady

LISTED = 200


def line(conversation: Conversation, now: float) -> str:
    """A conversation on one line: when it was last used, how long it is, how it began."""
    then = time.localtime(conversation.last)
    if time.strftime("%Y%j", then) == time.strftime("%Y%j", time.localtime(now)):
        when = time.strftime("today %H:%M", then)
    else:
        when = time.strftime("%Y-%m-%d", then)
    return f"{when:<12} {conversation.asks:>3}  {one_line(conversation.title, 200)}"


class HistoryScreen(Steady, ModalScreen[int | None]):
    """Returns the conversation to reopen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close"),
        Binding("down", "move(1)", "choose", show=False),
        Binding("up", "move(-1)", "choose", show=False),
        Binding("enter", "open", "open"),  # seen by the Input first
    ]

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._found: list[Conversation] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="history"):
            yield Static(
                "Earlier conversations: arrows choose, enter opens", markup=False, classes="title"
            )
            yield Input(placeholder="find a word that was said", id="history-find")
            yield OptionList(id="history-list", markup=False)
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._find("")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._find(event.value)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_open()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index].id)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        listed = self.query_one(OptionList)
        if self._found:
            listed.highlighted = ((listed.highlighted or 0) + step) % len(self._found)

    def action_open(self) -> None:
        at = self.query_one(OptionList).highlighted
        if self._found and at is not None:
            self.dismiss(self._found[at].id)

    def _find(self, wanted: str) -> None:
        listed = self.query_one(OptionList)
        listed.clear_options()
        try:
            self._found = self._journal.conversations(LISTED, wanted.strip() or None)
        except VidyaError as error:
            self._found = []
            listed.add_option(Option(Content(one_line(str(error))), disabled=True))
            return
        if not self._found:
            words = "nothing was found" if wanted.strip() else "there is none yet"
            listed.add_option(Option(Content(words), disabled=True))
            return
        now = time.time()
        listed.add_options([Option(Content(line(found, now))) for found in self._found])
        listed.highlighted = 0
