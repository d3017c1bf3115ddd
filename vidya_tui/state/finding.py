"""Finding words in what was said: where they stand, and going from one place to the next. Pure.

Left out: how it is shown (widgets/find_bar.py, widgets/entry.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where words stand."""

    position: int
    """Of the message."""
    start: int
    end: int
    """Characters of its text."""


def pattern(words: str) -> re.Pattern[str] | None:
    """What finds the words as they were typed, whatever their case and the white space between them;
    None where nothing is looked for."""
    pieces = words.split()
    if not pieces:
        return None
    return re.compile(r"\s+".join(map(re.escape, pieces)), re.IGNORECASE)


def places(texts: Sequence[str], words: str) -> list[Place]:
    """All places where the words stand in the messages, in order."""
    wanted = pattern(words)
    if wanted is None:
        return []
    return [
        Place(position, *found.span())
        for position, text in enumerate(texts)
        for found in wanted.finditer(text)
    ]
