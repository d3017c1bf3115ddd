"""The line of the keys that work now, at the bottom of a screen."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Footer

PAUSE = 0.05
"""Seconds in which what works may change some more before it is told."""
OFTEN = 20
"""Times that it is made anew before what is gone is let go of."""

Said = tuple[tuple[str, str, bool], ...]


class KeyLine(Footer):
    """Textual's footer, made anew only when it says something else, and letting go of what it said
    before: Footer (Textual 8.2) holds on to every key that it ever showed, 0.6 MB an exchange."""

    _said: Said | None = None
    _due = False
    _made = 0

    def bindings_changed(self, screen: Screen[object]) -> None:
        if not self._bindings_ready:
            super().bindings_changed(screen)
        elif not self._due:
            self._due = True
            # by way of its own queue: a timer's task would run beside one that is still at work
            self.set_timer(PAUSE, lambda: self.call_later(self._say))

    async def _say(self) -> None:
        self._due = False
        there = self.is_attached and self.screen is self.app.screen and self.app.app_focus
        if there and self._said != self._words():
            await self.recompose()

    async def recompose(self) -> None:
        self._said = self._words() if self._bindings_ready else None
        await super().recompose()
        self._made += 1
        if self._made % OFTEN == 0:
            self.mutate_reactive(Footer.compact)  # looks through those who listen; drops the gone

    def _words(self) -> Said:
        """Key, what it does, and whether it works, of each."""
        return tuple(
            (self.app.get_key_display(binding), binding.description, enabled)
            for _, binding, enabled, _ in self.screen.active_bindings.values()
            if binding.show
        )
