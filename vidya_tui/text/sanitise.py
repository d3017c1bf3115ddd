"""Makes any text safe to print: no text of a model or a person can control the terminal.

Control characters become visible symbols (ESC becomes ␛). Characters that reorder or hide other text
are dropped. Left out: markup; it needs no escaping, because widgets take plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20)}
    table[0x7F] = "\u2421"
    table.update(dict.fromkeys(range(128, 160), "�"))  # C1: 0x9b also starts an escape sequence
    table.update(dict.fromkeys(range(55296, 57344), "�"))  # lone surrogates
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
    """The text without anything that controls a terminal. Line breaks stay; a tab becomes 4 spaces."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def one_line(text: str, limit: int = 0) -> str:
    """`plain` on a single line. limit: longest length in characters, with the ellipsis that marks a
    cut; 0: no limit."""
    flat = " ".join(plain(text).split())
    return flat[: limit - 1].rstrip() + "\u2026" if limit and len(flat) > limit else flat
