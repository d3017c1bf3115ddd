"""The line in which the owner types words to find in the open conversation."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from vidya_tui.widgets.line_field import LineField


class _Field(LineField):
    """The field. The keys are bound here and not on FindBar: the field's own bindings would come first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", "earlier"),
        Binding("down", "step(1)", "later"),
        Binding("escape", "leave", "back"),
    ]

    def action_step(self, step: int) -> None:
        self.post_message(FindBar.Stepped(step))

    def action_leave(self) -> None:
        self.post_message(FindBar.Closed())

    def on_blur(self, _: events.Blur) -> None:
        if self.app.app_focus and self.parent is not None:  # else another window is looked at
            self.post_message(FindBar.Closed())


class FindBar(Horizontal):
    """Hidden until `open`; closes when it loses the focus."""

    class Wanted(Message):
        """The owner typed these words."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Stepped(Message):
        """The owner wants the next earlier (-1) or later (1) place."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Closed(Message):
        """The owner closed the line."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.field = _Field(placeholder="find in this conversation", compact=True, id="find-words")
        self.count = Static("", markup=False, id="find-count")
        self.display = False

    def compose(self) -> ComposeResult:
        yield self.field
        yield self.count

    def open(self, words: str = "") -> None:
        """Takes the focus. words: what to find; "": the last words, selected."""
        self.display = True
        if words:
            self.field.value = words
        self.screen.set_focus(self.field)
        self.field.action_select_all()
        self.post_message(self.Wanted(self.field.value))

    def show(self, which: int, many: int) -> None:
        """Shows how many places there are. which: the one in view, from 1."""
        words = (
            ""
            if not self.field.value.strip()
            else f"{which} of {many}"
            if many
            else "not said here"
        )
        self.count.update(Content(words))

    @on(LineField.Changed)
    def _typed(self, event: LineField.Changed) -> None:
        event.stop()
        if self.display:
            self.post_message(self.Wanted(event.value))

    @on(LineField.Submitted)
    def _entered(self, event: LineField.Submitted) -> None:
        event.stop()
        self.post_message(self.Stepped(-1))
