"""A dialog to retype an answer. Returns the text, saved or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.text_field import LongField

EMPTY = "the correction is empty: type what the answer should have been"


@dataclass(frozen=True)
class Retyped:
    """The text in the editor when the dialog closes; if not saved, it becomes a draft."""

    text: str
    saved: bool


class CorrectScreen(Steady, ModalScreen[Retyped]):
    """Shows the owner's message and an editor with the answer."""

    VERTICAL_BREAKPOINTS = [(0, "-lowest"), (17, "-low")]
    # no priority: with it, the save key could overtake the last letters of fast typing
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save"),
        Binding("escape", "leave", "leave it"),
    ]

    def __init__(self, message: str, text: str, *, replace: bool = False) -> None:
        """replace: select the text, so that typing replaces it; a cursor key keeps it."""
        super().__init__()
        self._message, self._replace, self._begun = message, replace, plain(text)
        self.editor = LongField(self._begun, id="editor", highlight_cursor_line=False)
        self.trouble = Static(EMPTY, markup=False, classes="quiet")
        self.trouble.display = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="correct"):
            hint = " (End keeps this text)" if self._replace else ""
            title = f"What should the answer have been?{hint}"
            yield Static(title, markup=False, classes="title")
            yield Static(one_line(self._message, 300), markup=False, classes="quiet")
            yield self.editor
            yield self.trouble
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.editor.move_cursor(self.editor.document.end)
        if self._replace:
            self.editor.select_all()
        self.set_focus(self.editor)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self.trouble.display = False

    def unsaved(self) -> str:
        """The typed text if the app ends before it is saved; empty if unchanged."""
        return "" if self.editor.text == self._begun else self.editor.text

    def action_save(self) -> None:
        if self.editor.text.strip():
            self.dismiss(Retyped(self.editor.text, saved=True))
        else:
            self.trouble.display = True

    def action_leave(self) -> None:
        self.dismiss(Retyped(self.editor.text, saved=False))
