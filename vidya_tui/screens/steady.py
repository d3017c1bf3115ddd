"""Keeps a screen from resizing for ever.

In Textual 8.2.8 a screen that is laid out anew tells itself its new size. Where two sizes come in
quick succession (a window dragged by the mouse) each of these messages undoes the other,
without end, at full load. So a size that is no longer the terminal's is passed over.
"""

from __future__ import annotations

from textual import events
from textual.app import App


class Steady:
    """Mixed into every screen, before Screen."""

    app: App[object]

    async def _on_resize(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            event.stop()
            event.prevent_default()
