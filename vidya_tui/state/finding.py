"""Finds words in the messages of a conversation. Pure.

Left out: how the places are shown (widgets/found.py, widgets/message.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """One place where the words stand."""

    position: int
    """Index of the message."""
    start: int
    end: int
    """Characters of the message, [start, end)."""


def pattern(words: str) -> re.Pattern[str] | None:
    """A pattern for the words in this order, in any case and with any white space between them; None for
    no words."""
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
