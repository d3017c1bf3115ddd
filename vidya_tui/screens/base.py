"""What the screens beside the chat have in common: a title, a line for questions, the keys, escape."""

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
    """A whole screen. The app passes the teacher's events to `hear` of every room that is open."""

    # Here and not with the app: read only when the first of these screens opens.
    CSS_PATH: ClassVar[str] = str(Path(__file__).parents[1] / "styles" / "subscreens.tcss")
    AUTO_FOCUS = ""  # each says itself what has the focus, before the first key arrives
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
        """What the teacher says, after the chat has taken it."""

    def head(self, *parts: str) -> None:
        """The title, and after it what is shown now; empty parts are left out."""
        first, *rest = [one_line(part) for part in parts if part]
        words = Content.styled(first, "bold $primary")
        self.heading.update(words.append("".join(f" \u00b7 {part}" for part in rest)))

    def attempt(self, work: Callable[[], str]) -> bool:
        """Does something and says what came of it; False if it could not be done."""
        try:
            words = work()
        except VidyaError as error:
            self.question.say(str(error), trouble=True)
            return False
        self.question.say(words)
        return True

    def action_leave(self) -> None:
        self.dismiss()
