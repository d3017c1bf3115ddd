"""Splits a typed line into words at its spaces. Those in quotes and in JSON values end no word.

Two words each: `syllogism 'forms=all,some not'`, `syllogism forms='all,some not'`,
`basic_arithmetic operators=["+", "-"]`. Quotes around a word, and single quotes around a value, are dropped.
JSON stays as it was typed.
"""

from __future__ import annotations

import json
import re

_SPACE, _REST = re.compile(r"\s*"), re.compile(r"\S*")
_NAME = re.compile(r"[^\s=\"']+=")
_QUOTED = re.compile(r"'([^']*)'")


def split_typed(line: str) -> tuple[str, ...]:
    """The words of a line. A quote that is not closed is a character like others."""
    words = []
    at = _end(_SPACE, line, 0)
    while at < len(line):
        word, at = _word(line, at)
        words.append(word)
        at = _end(_SPACE, line, at)
    return tuple(words)


def typed_word(word: str) -> str:
    """What one types for a word: the word itself, or in double quotes what `split_typed` would change, alone
    or before another word."""
    name, value, _ = _begun(word, 0)
    unclosed = not value and word[len(name) :].startswith(("'", '"', "[", "{"))
    kept = split_typed(word) == (word,) and not unclosed
    return word if kept else json.dumps(word, ensure_ascii=False)


def _word(line: str, start: int) -> tuple[str, int]:
    """(the word at `start`, where it ends)."""
    name, value, at = _begun(line, start)
    end = _end(_REST, line, at)
    return f"{name}{value}{line[at:end]}", end


def _begun(line: str, start: int) -> tuple[str, str, int]:
    """(`NAME=` or "", the value or "", end) of the word at `start`. It reads only quoted and JSON values."""
    name = _NAME.match(line, start)
    if name is None:
        return ("", *_value(line, start, named=False))
    return (name[0], *_value(line, name.end(), named=True))


def _value(line: str, start: int, *, named: bool) -> tuple[str, int]:
    """(the quoted text or, after a name, the JSON value at `start`, where it ends); ("", start) if there is
    none."""
    if quoted := _QUOTED.match(line, start):
        return quoted[1], quoted.end()
    if not (named or line.startswith('"', start)):
        return "", start
    try:
        value, end = json.JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return "", start
    return line[start:end] if named else str(value), end


def _end(pattern: re.Pattern[str], line: str, start: int) -> int:
    """Where a match of the pattern at `start` ends. The pattern matches the empty text too."""
    found = pattern.match(line, start)
    assert found is not None
    return found.end()
