"""A picked answer on its way from its card into the conversation. A moment only, and never waited for."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from vidya_tui.text.sanitise import plain

SECONDS = 0.22
ROWS = 6
"""The most lines of the text that are shown on the way."""


class Flight(Static):
    """Lies above everything while it flies, and takes no keys and no room."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self.display = False

    def fly(self, text: str, start: Region, end: Region) -> None:
        """Shows the text at `start` and lets it glide to `end`; regions of the screen."""
        self.update(Content(plain(text).strip("\n")))
        self.styles.width = max(1, min(start.width, end.width))
        self.styles.height = max(1, min(start.height, ROWS))
        self.offset = start.offset
        self.display = True
        self.animate(
            "offset", end.offset, duration=SECONDS, easing="out_cubic", on_complete=self.land
        )

    def land(self) -> None:
        """Hides it."""
        self.display = False
