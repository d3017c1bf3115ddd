"""The message of `vidya ask`: its words on the command line, and what is piped into it.

cat notes.txt | vidya ask "What is this about?"
"""

from __future__ import annotations

import os
import select
import stat
import sys

import click

from engine.errors import VidyaError
from vidya_tui.cli.common import say

PATIENCE = 2.0
"""Seconds without a byte after which it is said what is waited for."""


def message(words: str | None) -> str:
    """The words, then what is piped; `-`, or no words, is what is piped alone. Raises VidyaError for an
    empty text, UsageError where there is neither."""
    if words is None and not _is_piped():
        raise click.UsageError('missing the message: vidya ask "hello"')
    words = "-" if words is None else words
    piped = _read() if words == "-" or _is_piped() else ""
    text = piped if words == "-" else "\n".join(part for part in (words, piped) if part.strip())
    if not text.strip():
        raise VidyaError("the message is empty", 'give a text: vidya ask "hello"')
    return text


def _is_piped() -> bool:
    """Whether standard input is a pipe or a file. Nothing else is read unasked: whatever started this
    program may hold a terminal or a socket open for ever."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except OSError:  # no real file, as in tests
        return not sys.stdin.isatty()
    return stat.S_ISFIFO(kind) or stat.S_ISREG(kind)


def _read() -> str:
    if sys.stdin is None or sys.stdin.closed:
        return ""
    try:
        silent = not select.select([sys.stdin.fileno()], [], [], PATIENCE)[0]
    except (OSError, ValueError):
        silent = False
    if silent:
        end = "Ctrl+D ends it" if sys.stdin.isatty() else "< /dev/null goes without"
        say(f"vidya: waits for the rest of the message on standard input; {end}")
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")
