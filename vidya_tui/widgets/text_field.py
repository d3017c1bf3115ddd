"""Fields that take keys in the order they were pressed, and pastes as harmless text.

Letters go in as they come, in the widget's own queue; so the field's own bindings (backspace, arrows)
are run at once too.
"""

from __future__ import annotations

import contextlib

from textual import events
from textual.binding import Binding
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from vidya_tui.commands.keymap import each, keymap
from vidya_tui.text.sanitise import plain
from vidya_tui.widgets.ordered_keys import at_once


async def edited(field: Widget, event: events.Key) -> None:
    """Handles keys in a field, except the text that they type."""
    if "+" in event.key and event.key in field.screen._bindings.key_to_bindings:
        event.prevent_default()  # alt+x carries a letter, but the owner gave it a meaning
    elif not event.is_printable:
        await at_once(field, event, field)


class TextField(TextArea):
    """The base of everything that the owner types in."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key != "enter":  # TextArea's own handler is next
            await edited(self, event)

    def _recompute_cursor_offset(self) -> None:
        # Textual 8.2.8 undoes the lines first, and looks for the cursor where it was before: where
        # the scrollbar goes with the lines, that ended the app. The cursor follows right after.
        with contextlib.suppress(ValueError, IndexError):
            super()._recompute_cursor_offset()

    def render_line(self, y: int) -> Strip:
        # Textual 8.2.8 wraps the placeholder to the width, and 0 cells ended the app.
        return super().render_line(y) if self.content_size.width else Strip.blank(0)

    async def _on_paste(self, event: events.Paste) -> None:
        # Pasted escape sequences would be drawn as they are: make them visible before they go in.
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_paste(self) -> None:
        """ctrl+v: the clipboard of this program, cleaned like any paste."""
        self._take(self.app.clipboard)

    def _take(self, text: str) -> None:
        if result := self._replace_via_keyboard(plain(text), *self.selection):
            self.move_cursor(result.end_location)


class LongField(TextField):
    """A field for a text of many lines: the keys that make a new line in the prompt do so here too."""

    def on_mount(self) -> None:
        keys = getattr(self.app, "keys", None) or keymap({})
        for key in each(keys["newline"]):
            self._bindings.key_to_bindings[key] = [Binding(key, "newline", show=False)]
