"""Parsers for the arguments of slash commands: (name, text after it) -> argument. Raise CommandError.

Left out: which command uses which parser (table.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import VidyaError
from vidya_tui.text.sanitise import one_line

Argument = int | str | None
MOST_EPOCHS = 1000
LONGEST = 40
"""Characters of an argument that an error repeats."""


class CommandError(VidyaError):
    """A command that does not exist or was given something it cannot use."""


def no_argument(name: str, argument: str) -> Argument:
    """For commands without an argument."""
    if argument:
        raise CommandError(f"/{name} takes nothing after it", f"type /{name} alone")
    return None


def free_text(name: str, argument: str) -> Argument:
    """Any text, as typed; None if empty."""
    return argument or None


def candidate(name: str, argument: str) -> Argument:
    """The number of a candidate, from 1; required."""
    if not (number := _number(argument)):
        raise CommandError(
            f"/{name} needs the number of a candidate", f"type for example /{name} 3"
        )
    return number


def epochs(name: str, argument: str) -> Argument:
    """A number of epochs, 1 to MOST_EPOCHS; None if empty."""
    if not argument:
        return None
    if not 1 <= (number := _number(argument)) <= MOST_EPOCHS:
        raise CommandError(
            f"/{name} {one_line(argument, LONGEST)}: not a number of epochs",
            f"type /{name}, or a number from 1 to {MOST_EPOCHS} after it",
        )
    return number


def one_of(*values: str) -> Callable[[str, str], Argument]:
    """A parser for one of these words, in any case; None if empty."""

    def read(name: str, argument: str) -> Argument:
        if argument and argument.lower() not in values:
            words = " or ".join(f"/{name} {value}" for value in values)
            typed = one_line(argument, LONGEST)
            raise CommandError(f"/{name} {typed}: not one of its words", f"type {words}")
        return argument.lower() or None

    return read


def last_lesson(name: str, argument: str) -> Argument:
    """ "yes", which agrees to what was asked; None if empty. It concerns the last lesson alone."""
    if argument.lower() not in ("", "yes"):
        raise CommandError(
            f"/{name} {one_line(argument, LONGEST)}: /{name} takes back the last lesson, and no other",
            f"type /{name} alone; in the app w in /lessons takes back another",
        )
    return argument.lower() or None


def lesson(name: str, argument: str) -> Argument:
    """The number of a lesson, from 1; None if empty."""
    if not argument:
        return None
    if not (number := _number(argument)):
        raise CommandError(
            f"/{name} {one_line(argument, LONGEST)}: not the number of a lesson",
            f"type /{name}, or a number that /lessons shows after it",
        )
    return number


def _number(argument: str) -> int:
    """A whole number from 1 on; 0 for anything else, and for more digits than any number here has."""
    return int(argument) if re.fullmatch("[0-9]{1,18}", argument) else 0


FROM = "--from"
_QUOTED = re.compile(r"[\"\u201c](.*?)[\"\u201d](?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True)
class RatingWords:
    """The argument of /rate, taken apart."""

    value: str
    """good, bad or off."""
    reason: str = ""
    """Why, for good and bad: "shorter please"."""
    end: bool = False
    """The last sentence alone is bad."""
    words: str = ""
    """What is bad begins with these words of the answer; empty: they are not named."""


def rating(name: str, argument: str) -> Argument:
    """One of good, bad and off; required. A reason may follow good and bad: "bad shorter please". After bad,
    `end` alone or `--from "WORDS"` names the part that is bad; a reason may follow the words in quotes."""
    read = rating_words(argument)
    if read.value not in ("good", "bad", "off") or (read.value == "off" and read.reason):
        raise CommandError(
            f"/{name} needs good, bad or off",
            f"type /{name} good, /{name} bad, or /{name} off to withdraw it; a reason may follow; "
            f"/{name} bad end is about the last sentence alone",
        )
    if read.reason.split()[:1] == [FROM]:
        raise CommandError(
            f"/{name} bad {FROM} needs words of the answer",
            f'type for example /{name} bad {FROM} "They are"; only what is bad has a part to blame',
        )
    value, _, rest = argument.partition(" ")
    return f"{value.lower()} {rest.strip()}".rstrip()


def rating_words(argument: str) -> RatingWords:
    """The parts of what `rating` returned, or of something that it refuses."""
    value, _, rest = argument.partition(" ")
    value, rest = value.lower(), rest.strip()
    if value == "bad" and rest.lower() == "end":
        return RatingWords(value, end=True)
    option, _, said = rest.partition(" ")
    if value != "bad" or option != FROM:
        return RatingWords(value, rest)
    words, reason = said.strip(), ""
    if quoted := _QUOTED.fullmatch(words):
        words, reason = quoted[1].strip(), (quoted[2] or "").strip()
    return RatingWords(value, reason, words=words) if words else RatingWords(value, rest)


def reason(name: str, argument: str) -> Argument:
    """How the answer should be; required."""
    if not argument:
        raise CommandError(
            f"/{name} needs to know how the answer should be",
            f"type for example /{name} shorter please",
        )
    return argument
