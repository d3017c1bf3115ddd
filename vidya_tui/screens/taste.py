"""The taste screen: what was learned of what the owner likes, in sections of sentences.

Left out: the sentences (state/taste.py), training and rating.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import VidyaError
from learning.protocol.events import Event
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.state.taste import TasteView, sections
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.key_line import KeyLine


class TasteScreen(Steady, Screen[None]):
    """`/taste`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "back to the talk"),
        Binding("r", "read", "read again"),
        Binding("a", "ask", "ask me"),
    ]

    def __init__(self, view: Callable[[], TasteView], ask: Callable[[], Screen[int]]) -> None:
        """view: reads what is known now; may raise VidyaError. ask: makes the screen that asks the owner
        where the taste is unsure."""
        super().__init__()
        self._view, self._ask = view, ask
        self.heading = Static("", markup=False, classes="heading")

    def compose(self) -> ComposeResult:
        yield self.heading
        yield VerticalScroll(id="taste")
        yield KeyLine(show_command_palette=False, compact=True)

    async def on_mount(self) -> None:
        self.heading.update(Content.styled("What you like", "bold $primary"))
        self.set_focus(self.query_one("#taste"))
        await self.action_read()

    def hear(self, _: Sequence[Event]) -> None:
        """Events change nothing here; r reads again."""

    def action_ask(self) -> None:
        """Asks the owner to pick among answers about which the taste is unsure."""
        self.app.push_screen(self._ask())

    async def action_read(self) -> None:
        """Reads report and journal again."""
        try:
            parts = sections(self._view())
        except VidyaError as error:
            parts = [("it cannot be read", [str(error)])]
        room = self.query_one("#taste")
        await room.remove_children()
        for heading, lines in parts:
            words = plain("\n".join(lines))
            await room.mount(
                Static(Content.styled(heading, "bold")), Static(words, markup=False, classes="said")
            )
