"""What the program tells its owner, apart from the answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Something to tell the owner."""

    text: str
    """Empty: what was said before no longer matters."""
    trouble: bool = False
    stay: bool = False
    """Until something else is said."""


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its word: "1 lesson", "2 lessons", "1,000 entries". several: where an s is not enough."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
