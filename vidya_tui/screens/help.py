"""The help screen: keys and commands, from the tables in commands/table.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from vidya_tui.commands.keymap import Keymap, each, shown
from vidya_tui.commands.table import COMMANDS, KEYS
from vidya_tui.screens.textual_fixes import Steady
from vidya_tui.widgets.key_line import KeyLine

INTRODUCTION = (
    "Say something, and Vidya offers several answers. Press the number of the one you like best: "
    "it becomes the answer, and the model learns to prefer it. Where none is right, retype one."
)


def command_rows(keys: Keymap) -> list[tuple[str, ...]]:
    """(usage, key, help) of each command."""
    listed = [(c.usage, shown(keys[c.name]), c.help) for c in COMMANDS]
    return [*listed, ("//text", "", "say a message that begins with a slash")]


def key_rows(keys: Keymap) -> list[tuple[str, ...]]:
    """(key, help) of each key that is not a command."""
    listed = [(keys[key.name] if key.name else key.keys, key.help) for key in KEYS]
    return [(shown(name), words) for name, words in listed if name]


class HelpScreen(Steady, ModalScreen[None]):
    """Closes with escape and with the keys that open it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "dismiss", "close"),
    ]

    def __init__(self, keys: Keymap, here: Sequence[tuple[str, ...]] = ()) -> None:
        """here: (key, help) of the keys of the screen below."""
        super().__init__()
        self._keys, self._here = keys, here
        for key in each(keys["help"]):
            self._bindings.bind(key, "dismiss", show=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="box", id="help"):
            with VerticalScroll(id="help-text"):
                if self._here:
                    yield Static(table("keys of this screen", self._here), expand=True)
                else:
                    yield Static(INTRODUCTION, markup=False)
                yield Static(table("commands", command_rows(self._keys)), expand=True)
                yield Static(table("keys", key_rows(self._keys)), expand=True)
            yield KeyLine(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#help-text"))


def room_rows(screen: Screen[object]) -> list[tuple[str, ...]]:
    """(key, help) of the active keys of a screen other than the chat."""
    active = [one for one in screen.active_bindings.values() if one.node is screen and one.enabled]
    listed = [
        (screen.app.get_key_display(one.binding), one.binding.description)
        for one in active
        if one.binding.show
    ]
    return list(dict.fromkeys(listed))  # "e,enter" are two bindings, but one line here


def table(title: str, listed: Sequence[tuple[str, ...]]) -> Table:
    """Rows under a title; the last column takes the remaining width."""
    made = Table.grid(padding=(0, 2, 0, 0))
    width = max(len(row) for row in listed)
    for column in range(width):
        made.add_column(no_wrap=column < width - 1, ratio=1 if column == width - 1 else None)
    made.add_row()
    made.add_row(Text(title, style="bold"))
    for row in listed:
        made.add_row(*(Text(cell) for cell in row))
    return made
