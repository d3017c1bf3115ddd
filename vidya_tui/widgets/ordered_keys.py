"""Runs key bindings at once, so that keys that arrive in one burst take effect in their order.

Textual hands a key to the widget in focus, but runs bindings only after the key has travelled up to the
app and back; over a slow line the keys behind it would be handled first.
"""

from __future__ import annotations

from textual import events
from textual.dom import DOMNode
from textual.widget import Widget


async def at_once(widget: Widget, event: events.Key, *nodes: DOMNode) -> None:
    """Runs the key's binding on the first of these nodes that has an enabled one, and stops the event."""
    for node in nodes:
        for binding in node._bindings.key_to_bindings.get(event.key, ()):
            if await widget.app.run_action(binding.action, node):
                event.stop()
                event.prevent_default()
                return
