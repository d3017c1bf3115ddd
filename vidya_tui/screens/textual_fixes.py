"""Works around two bugs of Textual 8.2.8: endless resizing, and `dismiss` of a screen that is not on top.

After a layout a screen sends itself its new size. If two sizes come in quick succession (a window dragged
with the mouse), each message undoes the other, for ever and at full load. So sizes that are no longer the
terminal's are ignored. And `dismiss` removes whatever screen is on top: after two quick key presses that is
the screen below. So only the top screen can be dismissed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import Screen

if TYPE_CHECKING:
    Base = Screen[Any]
else:  # with Screen as a base, its styles would take precedence over those of the real screen
    Base = object


class Steady(Base):
    """Mixed into every screen, before Screen."""

    async def _on_resize(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Dismisses the screen; does nothing if it is not on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
