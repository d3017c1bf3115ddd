"""A field for one line: what text_field.py is for more of them."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from vidya_tui.text.sanitise import one_line
from vidya_tui.widgets.text_field import edited


class LineField(Input):
    """A field for one line: what is searched for, a title, a number."""

    async def _on_key(self, event: events.Key) -> None:
        await edited(self, event)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        """ctrl+v: the clipboard of this program, cleaned like any paste."""
        self._take(self.app.clipboard)

    def _take(self, text: str) -> None:
        self.replace(one_line(text), *self.selection)
