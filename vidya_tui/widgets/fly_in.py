"""An animation: a picked answer glides from its card into the conversation. Nothing waits for it."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from vidya_tui.text.sanitise import plain

SECONDS = 0.22
AGAIN, TRIES = 0.03, 5
"""Seconds between attempts to find the target, and the number of attempts."""
ROWS = 6
"""Most lines of the text that are shown."""


class Flight(Static):
    """Lies above everything during the animation; takes no keys and no room."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self.display = False

    def send(
        self, text: str, start: Region, end_at: Callable[[], Region | None], tries: int = TRIES
    ) -> None:
        """Flies to a target that may not be laid out yet. end_at: returns its region; None: not yet."""
        if self.app.animation_level == "none":
            return
        end = end_at()
        if end is not None:
            self.fly(text, start, end)
        elif tries:
            self.set_timer(AGAIN, lambda: self.send(text, start, end_at, tries - 1))

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
