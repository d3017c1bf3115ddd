"""Makes any text harmless to show: what models and people write is never a command to a terminal.

Control characters become visible pictures (ESC is shown as ␛), and characters that reorder or hide
other text are dropped. Left out: markup, which needs no escaping because widgets take text as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
    table[0x7F] = "\u2421"
    table.update(dict.fromkeys(range(128, 160), "�"))  # C1: 0x9b starts a sequence too
    table.update(dict.fromkeys(range(55296, 57344), "�"))  # half characters
    dropped = [0xAD, 0x61C, 0x180E, 0xFEFF, 0x200B, 0x200E, 0x200F, 0xFFFE, 0xFFFF]
    dropped += range(0x202A, 0x202F)  # bidi embeddings and overrides
    dropped += range(0x2060, 0x2070)  # bidi isolates, invisible operators
    dropped += range(0xFFF9, 0xFFFC)
    dropped += range(0xE0000, 0xE0080)  # tags: invisible letters
    table.update(dict.fromkeys(dropped))
    table.update({0x0A: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n", 0x09: "    "})
    return table


_TABLE: Mapping[int, str | None] = MappingProxyType(_table())


def plain(text: str) -> str:
    """The text with nothing in it that a terminal obeys; line breaks stay, tabs become spaces."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def one_line(text: str, limit: int = 0) -> str:
    """`plain` on a single line, cut with an ellipsis after `limit` characters (0: not cut)."""
    flat = " ".join(plain(text).split())
    return flat[: limit - 1].rstrip() + "\u2026" if limit and len(flat) > limit else flat
