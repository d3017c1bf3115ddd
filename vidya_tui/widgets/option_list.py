"""A short list with titles between its rows; left, right, enter and space are its screen's to use."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList


class Choices(OptionList, inherit_bindings=False):
    """Rows to choose from with the keys or the mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", "up", show=False),
        Binding("down", "cursor_down", "down", show=False),
        Binding("home", "first", "the first", show=False),
        Binding("end", "last", "the last", show=False),
        Binding("pageup", "page_up", "a page up", show=False),
        Binding("pagedown", "page_down", "a page down", show=False),
    ]

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()

    def action_page_down(self) -> None:
        """Nothing where there is no room for a single row: OptionList fails then (Textual 8.2)."""
        if self.scrollable_content_region:
            super().action_page_down()
