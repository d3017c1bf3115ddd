"""The chat's keys: which there are, and which work now. Pure.

Left out: what a key does (screen.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding

from vidya_tui.commands.keymap import Keymap, shown, way
from vidya_tui.commands.parse import find
from vidya_tui.commands.situation import Situation
from vidya_tui.commands.table import COMMANDS, Command

FIRST = ("correct", "undo", "new")
"""Commands whose keys come first in the footer."""


def bindings(keys: Keymap) -> Iterator[Binding]:
    """The commands' keys, twice: shown in the footer where useful, and working where possible."""
    yield Binding("tab", "app.focus_next", show=False)
    yield Binding("shift+tab", "choose_last", show=False)
    yield Binding("ctrl+c,super+c", "screen.copy_text", show=False)
    for name in ("good", "bad"):
        if keys[name]:
            # "alt+up good" and then "down bad", where the second is held with the same key
            held, _, last = shown(keys["bad"]).rpartition("+")
            short = name == "bad" and held and shown(keys["good"]).rpartition("+")[0] == held
            display = {"up": "\u2191", "down": "\u2193"}.get(last, last) if short else None
            yield Binding(keys[name], f"shown_rate('{name}')", name, key_display=display)
            yield Binding(keys[name], f"rate('{name}')", show=False)
    if keys["jump"]:
        yield Binding(keys["jump"], "jump", "to the end")
    # those with alt last: where the footer has no room for all, they are left out
    for command in sorted(COMMANDS, key=_late):
        name = command.name
        if keys[name] and name != "quit":
            if name == "correct":  # the same key, called by what it means while candidates wait
                yield Binding(keys[name], "none_of_these", "none of these")
            yield Binding(keys[name], f"shown('{name}')", command.label or name)
            yield Binding(keys[name], f"command('{name}')", command.label, show=False)


def _late(command: Command) -> tuple[bool, bool]:
    """How late in the footer a command comes."""
    return command.keys.startswith("alt+"), command.name not in FIRST


def works(
    action: str, parameters: tuple[object, ...], now: Situation, *, following: bool
) -> bool | None:
    """Whether a key's action can be taken now: Textual's `check_action`. following: the conversation
    shows its end."""
    if action in ("shown", "command"):
        command = find(str(parameters[0]))
        possible = command.when(now)
        if action == "shown" and command.footer is not None:
            return possible and command.footer(now)
        return possible
    if action == "none_of_these":
        return now.waiting
    if action == "shown_rate":
        return now.ratable
    if action == "jump":
        return not following
    return True


def nothing_to_rate(value: str, now: Situation, keys: Keymap) -> str:
    """Why a key for `good` or `bad` did nothing, and what to do first."""
    first = "say something"
    if now.cards:  # the surest is the first of them
        first = f"press {min(now.cards)} to {max(now.cards)} to pick one"
    key = way(keys, value) if keys[value] else f"/rate {value}"
    return f"no answer to rate yet: {first}, then {key} rates it"
