"""Builds the keymap: the default keys of the table, changed by `[keys]` in settings.toml.

    [keys]
    train = "f5"
    undo = "f8,ctrl+underscore"
    editor = ""                 # no key at all

Validates the keys before the screen opens, so that no key silently does nothing. Imports no Textual.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Mapping

from vidya_tui.commands.table import COMMANDS, KEYS
from vidya_tui.settings.file import SettingsError

Keymap = Mapping[str, str]
"""Name of a command or of a row of KEYS -> its keys in Textual's notation, separated by commas."""

_PLAIN = ("backspace", "delete", "left", "right", "up", "down", "home", "end")
_MODIFIED = {
    "ctrl": ("a", "c", "d", "e", "k", "u", "v", "w", "x", "y", "z", "backspace", "left", "right"),
    "ctrl+shift": ("k", "left", "right"),
    "shift": ("tab", "down", "end", "home", "left", "right", "up"),
    "alt": ("backspace", "delete"),
    "super": ("backspace", "c", "x", "y", "z"),
}
TYPING = frozenset((*_PLAIN, "enter", "tab", "space", "insert", "f6", "f7")) | {
    f"{held}+{key}" for held, keys in _MODIFIED.items() for key in keys
}
"""Keys for editing text; they must reach the prompt."""
THE_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace"}
"""Key -> the key that terminals send instead."""
FIXED = {"ctrl+p": "the palette"}
"""Keys that cannot be changed."""
GIVES_WAY = ("find", "good", "bad", "train", "settings")
"""Names whose default keys were added later. If the owner's `[keys]` gives such a key to something else,
the owner's choice wins and the name here loses that key."""
_HELD = ("ctrl", "alt", "shift", "super")
_NAMES = ("escape", "pageup", "pagedown", "slash", "backslash", "at", "minus", "plus", "underscore")


def usual() -> dict[str, str]:
    """The default keys."""
    named = {key.name: key.keys for key in KEYS if key.name}
    return {command.name: command.keys for command in COMMANDS} | named


def known(changes: Mapping[str, str]) -> tuple[dict[str, str], list[SettingsError]]:
    """(changes whose names exist, errors for the others)."""
    made = usual()
    errors = []
    for name in changes:
        if name not in made:
            near = difflib.get_close_matches(name, made, n=1)
            advice = f"did you mean {near[0]}?" if near else f"choose of {', '.join(sorted(made))}"
            errors.append(_wrong(name, "there is nothing of that name", advice))
    return {name: keys for name, keys in changes.items() if name in made}, errors


def keymap(changes: Mapping[str, str]) -> dict[str, str]:
    """All keys after the owner's changes. Raises SettingsError for unknown names, keys that cannot be
    used, and keys used twice."""
    made, (_, errors) = usual(), known(changes)
    if errors:
        raise errors[0]
    for name, keys in changes.items():
        made[name] = ",".join(_checked(name, key) for key in keys.split(",") if key.strip())
    taken = {key for name in changes for key in each(made[name])}
    for name in set(GIVES_WAY) - set(changes):
        made[name] = ",".join(key for key in each(made[name]) if key not in taken)
    owner: dict[str, str] = dict(FIXED)
    for name, keys in made.items():
        for key in each(keys):
            if key in owner:
                mine, other = (name, owner[key]) if name in changes else (owner[key], name)
                advice = "choose another key"
                if other in made:
                    advice += f', or give {other} another one; "" is none'
                raise _wrong(mine, f"{key} is the key of {other} as well", advice)
            owner[key] = name
    return made


def each(keys: str) -> list[str]:
    """Splits "f1,alt+h" into its keys; [] for ""."""
    return [key for key in keys.split(",") if key]


def shown(keys: str) -> str:
    """The first of the keys."""
    return keys.partition(",")[0]


def way(keys: Keymap, name: str) -> str:
    """How a hint refers to a command: "F2", "esc", or "/correct" if it has no key."""
    key = shown(keys[name])
    if re.fullmatch(r"f\d+", key):
        return key.upper()
    return {"escape": "esc"}.get(key, key) or f"/{name}"


def _checked(name: str, key: str) -> str:
    key = "+".join(part.strip() for part in key.strip().lower().split("+"))
    *held, last = key.split("+")
    if not set(held) <= set(_HELD) or not _is_key(last):
        raise _wrong(name, f"{key[:40]!r} is no key", 'write for example "ctrl+t", "f5" or "alt+x"')
    if key in THE_SAME:
        raise _wrong(name, f"terminals send {key} for {THE_SAME[key]}", "choose another key")
    if key in TYPING:
        raise _wrong(name, f"{key} is needed to write", "choose another key")
    if _is_character(last) and set(held) <= {"shift"}:
        raise _wrong(name, f"{key} alone is always typed", f"hold a key with it: alt+{last}")
    return key


def _is_key(last: str) -> bool:
    named = last in _NAMES or last in TYPING or re.fullmatch(r"f([1-9]|1\d|2[0-4])", last)
    return bool(named) or _is_character(last)


def _is_character(last: str) -> bool:
    """True for a letter or digit, or Textual's name of a sign: comma, left_square_bracket."""
    if len(last) == 1 or last in _NAMES[3:]:
        return last.isalnum() or len(last) > 1
    try:
        return len(last) > 3 and bool(unicodedata.lookup(last.replace("_", " ")))
    except KeyError:
        return False


def _wrong(name: str, what: str, next_step: str) -> SettingsError:
    shown = name if name.isprintable() else ascii(name)
    return SettingsError(f"settings.toml: keys: {shown}: {what}", next_step, key=f"keys.{name}")
