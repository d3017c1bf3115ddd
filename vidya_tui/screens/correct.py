"""The editor in which an answer is retyped. Returns what was typed, saved or left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from vidya_tui.plain import one_line, plain
from vidya_tui.screens.steady import Steady
from vidya_tui.widgets.text_field import TextField


@dataclass(frozen=True)
class Retyped:
    """What is in the editor when it closes. A text that was left is kept for the next time."""

    text: str
    saved: bool


class CorrectScreen(Steady, ModalScreen[Retyped]):
    """What the owner said, and the answer to retype."""

    # Without priority: that would save before the last letters of a burst have arrived.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+j,ctrl+enter", "save", "save"),
        Binding("escape", "leave", "leave it"),
    ]

    def __init__(self, message: str, text: str) -> None:
        super().__init__()
        self._message = message
        self._text = plain(text)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="correct"):
            yield Static("What should the answer have been?", markup=False, classes="title")
            yield Static(one_line(self._message, 300), markup=False, classes="quiet")
            yield TextField(self._text, id="editor", highlight_cursor_line=False)
            yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        editor = self.query_one(TextField)
        editor.move_cursor(editor.document.end)
        editor.focus()

    def action_save(self) -> None:
        text = self.query_one(TextField).text
        self.dismiss(Retyped(text, saved=bool(text.strip())))

    def action_leave(self) -> None:
        self.dismiss(Retyped(self.query_one(TextField).text, saved=False))
