"""The line of the keys that work now, at the bottom of a screen."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Footer


class KeyLine(Footer):
    """Textual's footer, made anew only when it says something else, and letting go of what it said
    before: Footer (Textual 8.2) holds on to every key that it ever showed, 0.6 MB an exchange."""

    _said: tuple[tuple[str, str, bool], ...] | None = None

    def bindings_changed(self, screen: Screen[object]) -> None:
        if not self._bindings_ready or self._said != self._words(screen):
            super().bindings_changed(screen)

    async def recompose(self) -> None:
        self._said = self._words(self.screen) if self._bindings_ready else None
        await super().recompose()
        self.mutate_reactive(Footer.compact)  # looks through those who listen, and drops the gone

    def _words(self, screen: Screen[object]) -> tuple[tuple[str, str, bool], ...]:
        """Key, what it does, and whether it works, of each."""
        return tuple(
            (self.app.get_key_display(binding), binding.description, enabled)
            for _, binding, enabled, _ in screen.active_bindings.values()
            if binding.show
        )
