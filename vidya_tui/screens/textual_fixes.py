"""Keeps a screen from resizing for ever, and from taking another one with it when it goes.

In Textual 8.2.8 a screen that is laid out anew tells itself its new size. Where two sizes come in
quick succession (a window dragged by the mouse) each of these messages undoes the other,
without end, at full load. So a size that is no longer the terminal's is passed over. And a screen that
is dismissed takes away whatever is on top: where a key was struck twice before the first was seen to,
that is the screen below, or the last there is. So only the one on top goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import Screen

if TYPE_CHECKING:
    Base = Screen[Any]
else:  # a base that is a screen would come before the styles of the screens that this is mixed into
    Base = object


class Steady(Base):
    """Mixed into every screen, before Screen."""

    async def _on_resize(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Does nothing if it is not on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
