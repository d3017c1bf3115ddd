"""Base class of all screens other than the chat: a title, a line for questions, the keys, escape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import VidyaError
from learning.protocol.events import Event
from vidya_tui.controller.context import ScreenContext
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.text.sanitise import one_line
from vidya_tui.widgets.confirm_line import ConfirmLine
from vidya_tui.widgets.key_line import KeyLine

Result = TypeVar("Result")


class SubScreen(Steady, Screen[Result]):
    """A full screen. The app passes the teacher's events to `hear` of every open screen."""

    # here and not in the app, so that it is read only when the first of these screens opens
    CSS_PATH: ClassVar[str] = str(Path(__file__).parents[1] / "styles" / "subscreens.tcss")
    AUTO_FOCUS = ""  # each screen sets the focus itself, before the first key arrives
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back")]

    def __init__(self, place: ScreenContext) -> None:
        super().__init__()
        self.place = place
        self.heading = Static("", markup=False, classes="heading")
        self.question = ConfirmLine(id="question")

    def compose(self) -> ComposeResult:
        yield self.heading
        yield from self.body()
        yield self.question
        yield KeyLine(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """The widgets between the title and the question."""
        raise NotImplementedError

    def hear(self, events: Sequence[Event]) -> None:
        """Handles events of the teacher, after the chat has handled them."""

    def head(self, *parts: str) -> None:
        """Sets the heading: the title, then further parts; empty parts are left out."""
        first, *rest = [one_line(part) for part in parts if part]
        words = Content.styled(first, "bold $primary")
        self.heading.update(words.append("".join(f" \u00b7 {part}" for part in rest)))

    def attempt(self, work: Callable[[], str]) -> bool:
        """Runs `work` and shows the message it returns, or its VidyaError; False on an error."""
        try:
            words = work()
        except VidyaError as error:
            self.question.say(str(error), trouble=True)
            return False
        self.question.say(words)
        return True

    def action_leave(self) -> None:
        self.dismiss()
