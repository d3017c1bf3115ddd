"""The command palette: what it offers, by name and by what it does, and mends for no room and for a
second Enter.

Beside the chat it offers the chat's commands too, which go back there first; not where that would
lose what is being typed. In Textual 8.2.8 page up and page down ask for the line of an option, and
in a terminal of a few columns there is none; and Enter, struck twice before the first is seen to,
carries a command out twice.
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
"""Score of what was found by what it does: behind all that were found by name."""
ANYWHERE = ("help", "quit")
"""Commands for which no screen is left."""


class Commands(SystemCommandsProvider):
    """Textual's, which looks in what a command does too, and not only in its name."""

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
    """Textual's, made to stand any size and any haste."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """What calls it carries out the chosen command next: the first time."""
        if not self.is_active:
            self._selected_command = DiscoveryHit("", lambda: None)
        return super().dismiss(result)

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError, IndexError):
            super()._action_command_list(action)


def offered(now: Situation, screens: Iterable[Screen[Any]]) -> Iterator[tuple[str, RunCommand]]:
    """(what would be typed, what it does) of the slash commands, once for each argument.

    screens: those that are open, one above the other."""
    closable = not any(map(_writing, screens))
    for command in COMMANDS:
        if not command.when(now) or not (closable or command.name in ANYWHERE):
            continue
        values = map(str, now.cards) if command.name == "pick" else command.values
        for value in ([""] if command.bare else []) + list(values):
            title = f"/{command.name} {value}".rstrip()
            yield title, RunCommand(command, command.read(command.name, value))


def _writing(screen: Screen[Any]) -> bool:
    """Whether something is being typed that would be lost with the screen."""
    text = isinstance(screen.focused, Input | TextArea)
    return text and screen.is_modal and not isinstance(screen, CommandPalette)
