"""Reads the message of `vidya ask` from the command line and from a pipe.

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
"""Seconds without input before vidya says that it waits for a message."""


def message(words: str | None) -> str:
    """The words followed by the piped text; for `-` or None the piped text alone. Raises VidyaError if the
    text is empty, UsageError if there is neither."""
    if words is None and not _is_piped():
        raise click.UsageError('missing the message: vidya ask "hello"')
    words = "-" if words is None else words
    piped = _read() if words == "-" or _is_piped() else ""
    text = piped if words == "-" else "\n".join(part for part in (words, piped) if part.strip())
    if not text.strip():
        raise VidyaError("the message is empty", 'give a text: vidya ask "hello"')
    return text


def _is_piped() -> bool:
    """True if stdin is a pipe or a file. Anything else is read only on request, because the parent process
    may keep a terminal or a socket open for ever."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except OSError:  # not a real file, as in tests
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
        end = "Ctrl+D ends it" if sys.stdin.isatty() else "add < /dev/null if there is none"
        say(f"vidya: waits for the rest of the message on standard input; {end}")
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")
