"""The command palette: what it offers, and mends for no room and for a second Enter.

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
from textual.command import CommandPalette, DiscoveryHit
from textual.screen import Screen
from textual.widgets import Input, TextArea

from vidya_tui.commands import COMMANDS, Situation
from vidya_tui.screens.steady import Steady
from vidya_tui.typed import Run

ANYWHERE = ("help", "quit")
"""Commands for which no screen is left."""


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


def offered(now: Situation, screens: Iterable[Screen[Any]]) -> Iterator[tuple[str, Run]]:
    """(what would be typed, what it does) of the slash commands, once for each argument.

    screens: those that are open, one above the other."""
    closable = not any(map(_writing, screens))
    for command in COMMANDS:
        if not command.when(now) or not (closable or command.name in ANYWHERE):
            continue
        values = map(str, now.cards) if command.name == "pick" else command.values
        for value in ([""] if command.bare else []) + list(values):
            title = f"/{command.name} {value}".rstrip()
            yield title, Run(command, command.read(command.name, value))


def _writing(screen: Screen[Any]) -> bool:
    """Whether something is being typed that would be lost with the screen."""
    text = isinstance(screen.focused, Input | TextArea)
    return text and screen.is_modal and not isinstance(screen, CommandPalette)
