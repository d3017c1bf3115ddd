"""Keys that are obeyed at once, so that those which come in one burst keep their order.

Textual hands a key to the widget in focus, but runs bindings only after the key has travelled up to the
app and back; over a slow line the keys behind it would be looked at first.
"""

from __future__ import annotations

from textual import events
from textual.dom import DOMNode
from textual.widget import Widget


async def at_once(widget: Widget, event: events.Key, *nodes: DOMNode) -> None:
    """Runs what the key is bound to in the first of these nodes where that can be done now; the event
    ends then."""
    for node in nodes:
        for binding in node._bindings.key_to_bindings.get(event.key, ()):
            if await widget.app.run_action(binding.action, node):
                event.stop()
                event.prevent_default()
                return
