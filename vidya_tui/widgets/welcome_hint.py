"""One or two lines above the prompt that tell a new owner what to do next."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static

from vidya_tui.state.welcome import STEPS, Advice

EVERY = 0.25
"""Seconds between two checks of what the owner has done."""
STAYS = 20.0
"""Seconds for which the last hint stays."""


class Guide(Static):
    """Updates itself, and removes itself after the last hint. Escape removes it too (app.py)."""

    def __init__(self, look: Callable[[], Advice], over: Callable[[], None]) -> None:
        """over: called when the last hint was shown."""
        super().__init__("", markup=False, id="guide")
        self._look, self._over = look, over
        self._shown: Advice | None = None

    def on_mount(self) -> None:
        self.set_interval(EVERY, self._again)
        self._again()

    def _again(self) -> None:
        now = self._look()
        if now == self._shown:
            return
        if now.last:
            self._over()
            self.set_timer(STAYS, self.remove)
        self._shown = now
        head = "welcome" if now.step == 1 else "next" if not now.last else "done"
        line = Content.styled(f"{head} {now.step}/{STEPS}  ", "bold $accent").append(now.words)
        self.update(line.append(Content.styled("  esc skips", "dim")))
