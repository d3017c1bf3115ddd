"""The command palette: finds commands by name and by description.

On other screens it also offers the chat's commands, which close these screens first, unless that would lose
text that is being typed. Fixes two bugs of Textual 8.2.8: in a terminal of a few columns, page up and
page down fail because an option has no line; and two quick presses of Enter run a command twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widgets import Input, TextArea

from vidya_tui.commands.parse import RunCommand
from vidya_tui.commands.situation import Situation
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.textual_fixes import Steady

BY_ITS_WORDS = 0.01
"""Score of a command found by its description: below all that were found by name."""
ANYWHERE = ("help", "quit")
"""Commands that close no screen."""


class Commands(SystemCommandsProvider):
    """Textual's provider, which also searches the descriptions."""

    async def search(self, query: str) -> Hits:
        found = set()
        async for hit in super().search(query):
            found.add(getattr(hit, "text", None) or str(hit.prompt))
            yield hit
        words = query.casefold().split()
        for title, what, callback, *_ in self.app.get_system_commands(self.screen):
            said = f"{title} {what}".casefold()
            if title not in found and words and all(word in said for word in words):
                yield Hit(BY_ITS_WORDS, title, callback, help=what)


class Palette(Steady, CommandPalette):
    """Textual's palette with the fixes described above."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Textual runs the selected command after this; a second call selects one that does nothing."""
        if not self.is_active:
            self._selected_command = DiscoveryHit("", lambda: None)
        return super().dismiss(result)

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError, IndexError):
            super()._action_command_list(action)


def offered(now: Situation, screens: Iterable[Screen[Any]]) -> Iterator[tuple[str, RunCommand]]:
    """(line to type, command) for each available slash command and each of its arguments.

    screens: the open screens."""
    closable = not any(map(_writing, screens))
    for command in COMMANDS:
        if not command.when(now) or not (closable or command.name in ANYWHERE):
            continue
        values = map(str, now.cards) if command.name == "pick" else command.values
        for value in ([""] if command.bare else []) + list(values):
            title = f"/{command.name} {value}".rstrip()
            yield title, RunCommand(command, command.read(command.name, value))


def _writing(screen: Screen[Any]) -> bool:
    """True if closing the screen would lose text that is being typed."""
    text = isinstance(screen.focused, Input | TextArea)
    return text and screen.is_modal and not isinstance(screen, CommandPalette)
