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
    ]

    def __init__(self, view: Callable[[], TasteView]) -> None:
        """view: reads what is known now; may raise VidyaError."""
        super().__init__()
        self._view = view
        self.heading = Static("", markup=False, classes="heading")
        self.words = Static("", markup=False, id="taste-words")

    def compose(self) -> ComposeResult:
        yield self.heading
        with VerticalScroll(id="taste"):
            yield self.words
        yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.heading.update(Content.styled("What you like", "bold $primary"))
        self.set_focus(self.query_one("#taste"))
        self.action_read()

    def hear(self, _: Sequence[Event]) -> None:
        """Events change nothing here; r reads again."""

    def action_read(self) -> None:
        """Reads report and journal again."""
        try:
            view = self._view()
        except VidyaError as error:
            self.words.update(Content(plain(str(error))))
            return
        parts = list[Content]()
        for heading, lines in sections(view):
            parts.append(Content.styled(heading, "bold"))
            parts += [Content(f"  {plain(line)}") for line in lines]
            parts.append(Content(""))
        self.words.update(Content("\n").join(parts))
