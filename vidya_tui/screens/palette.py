"""The command palette, which in Textual 8.2.8 fails where there is no room for its list.

Page up and page down ask for the line of an option, and in a terminal of a few columns there is none.
"""

from __future__ import annotations

import contextlib

from textual.command import CommandPalette


class Palette(CommandPalette):
    """Textual's, made to stand any size."""

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError, IndexError):
            super()._action_command_list(action)
