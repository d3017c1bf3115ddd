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

    def __init__(
        self,
        look: Callable[[], Advice],
        over: Callable[[], None],
        offer: Callable[[], str] = lambda: "",
    ) -> None:
        """over: called when the last hint was shown. offer: a sentence below the hint; empty: none."""
        super().__init__("", markup=False, id="guide")
        self._look, self._over, self._offer = look, over, offer
        self._shown: tuple[Advice, str] | None = None

    def on_mount(self) -> None:
        self.set_interval(EVERY, self._again)
        self._again()

    def _again(self) -> None:
        now, offer = self._look(), self._offer()
        if (now, offer) == self._shown:
            return
        if now.last and (self._shown is None or now != self._shown[0]):
            self._over()
            self.set_timer(STAYS, self.remove)
        self._shown = now, offer
        head = "welcome" if now.step == 1 else "next" if not now.last else "done"
        line = Content.styled(f"{head} {now.step}/{STEPS}  ", "bold $accent").append(now.words)
        if offer:
            line = line.append("\n").append(offer)
        self.update(line.append(Content.styled("  esc skips", "dim")))
