"""A dialog for a question and its answer, an entry of the book. Returns the texts, saved or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.text.sanitise import one_line, plain
from vidya_tui.widgets.key_line import KeyLine
from vidya_tui.widgets.text_field import LongField


@dataclass(frozen=True)
class Typed:
    """The texts in the fields when the dialog closes."""

    question: str
    answer: str
    saved: bool
    """False: the owner left without saving; the texts become a draft."""


class EntryScreen(Steady, ModalScreen[Typed]):
    """The dialog with the two fields."""

    VERTICAL_BREAKPOINTS = [(0, "-lowest"), (17, "-low")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save"),
        Binding("tab,shift+tab", "other", "next field", priority=True),
        Binding("escape", "leave", "leave it"),
    ]

    def __init__(self, title: str, question: str = "", answer: str = "", before: str = "") -> None:
        """before: the earlier turns, if any."""
        super().__init__()
        self._title, self._before = title, before
        self.question_field = LongField(plain(question), id="entry-question")
        self.answer_field = LongField(plain(answer), id="entry-answer")
        self.trouble = Static("", markup=False, classes="quiet")
        self._begun = (self.question_field.text, self.answer_field.text)

    def unsaved(self) -> str:
        """The typed texts if the app ends before they are saved; empty if unchanged."""
        texts = (self.question_field.text, self.answer_field.text)
        return "" if texts == self._begun else "\n".join(filter(str.strip, texts))

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="entry"):
            yield Static(one_line(self._title), markup=False, classes="title")
            if self._before:
                yield Static(one_line(self._before, 300), markup=False, classes="quiet")
            yield Static("You say", markup=False, classes="quiet who")
            yield self.question_field
            yield Static("Vidya answers", markup=False, classes="quiet who")
            yield self.answer_field
            yield self.trouble
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        field = self.answer_field if self.question_field.text else self.question_field
        field.move_cursor(field.document.end)
        self.set_focus(field)

    def action_other(self) -> None:
        self.set_focus(
            self.answer_field if self.focused is self.question_field else self.question_field
        )

    def action_save(self) -> None:
        question, answer = self.question_field.text.strip(), self.answer_field.text.strip()
        if question and answer:
            self.dismiss(Typed(question, answer, saved=True))
            return
        self.trouble.update("an entry needs a question and an answer")
        self.set_focus(self.answer_field if question else self.question_field)

    def action_leave(self) -> None:
        typed = Typed(self.question_field.text, self.answer_field.text, saved=False)
        self.dismiss(typed)
