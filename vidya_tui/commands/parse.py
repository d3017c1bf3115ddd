"""Parses typed lines into messages and commands, and completes commands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vidya_tui.commands.arguments import Argument, CommandError
from vidya_tui.commands.table import COMMANDS, Command


@dataclass(frozen=True)
class Say:
    """A typed message to answer."""

    text: str


@dataclass(frozen=True)
class RunCommand:
    """A typed command to run."""

    command: Command
    argument: Argument = None


@dataclass(frozen=True)
class Completion:
    """A completion of the typed line."""

    text: str
    """The whole line after the completion."""
    label: str
    help: str


def find(name: str, commands: Sequence[Command] = COMMANDS) -> Command:
    """The command with this name or alias. Raises CommandError, which suggests a similar name."""
    wanted = name.lower()
    for command in commands:
        if wanted == command.name or wanted in command.aliases:
            return command
    names = [command.name for command in commands]
    near = [n for n in names if wanted and n.startswith(wanted)]
    near = near or difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    advice = f"did you mean /{near[0]}? " if near else "/help lists the commands; "
    raise CommandError(
        f"there is no command /{name}" if name else "a slash alone is no command",
        advice + "to say something that begins with a slash, type it twice",
    )


def is_command(text: str) -> bool:
    """True if the line is a command, known or not: it starts with a single slash."""
    stripped = text.strip()
    return stripped.startswith("/") and not stripped.startswith("//")


def parse(text: str) -> Say | RunCommand:
    """Parses a line as a message or a command. `//text` is the message `/text`. Raises CommandError."""
    stripped = text.strip()
    if stripped.startswith("//"):
        return Say(stripped[1:])
    if not is_command(stripped):
        return Say(stripped)
    name = re.split(r"\s", stripped[1:], maxsplit=1)[0]
    argument = stripped[1 + len(name) :].strip()
    command = find(name)
    return RunCommand(command, command.read(command.name, argument))


def complete(text: str) -> list[Completion]:
    """Completions of a line that starts with a slash, likeliest first."""
    if not text.startswith("/") or text.startswith("//") or "\n" in text:
        return []
    name, space, argument = text[1:].partition(" ")
    if any(name.lower() in command.aliases for command in COMMANDS):
        return []  # an alias is complete as it is
    if not space:
        return [
            Completion(f"/{c.name} " if c.hint else f"/{c.name}", c.usage, c.help)
            for c in _matching(name.lower())
        ]
    for command in COMMANDS:
        if command.name == name.lower():
            offered = command.offers() if command.offers else dict.fromkeys(command.values, "")
            return [
                Completion(f"/{command.name} {value}", value, offered[value] or command.help)
                for value in _following(offered, argument.lower())
            ]
    return []


def _following(offered: Mapping[str, str], begun: str) -> list[str]:
    """Arguments that match the typed text: by their beginning, else by name, else by description."""
    if begun in offered:
        return []
    starts = [value for value in offered if value.startswith(begun)]
    holds = [value for value in offered if begun in value]
    return starts or holds or [value for value, what in offered.items() if begun in what.lower()]


def _matching(prefix: str) -> Iterable[Command]:
    starts = [c for c in COMMANDS if c.name.startswith(prefix)]
    return starts or [c for c in COMMANDS if prefix in c.name]
