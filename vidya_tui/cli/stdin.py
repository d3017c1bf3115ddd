"""Reads from standard input: the message of `vidya ask`, and files that are given as `-`.

cat notes.txt | vidya ask "What is this about?"
"""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import click

from engine.errors import DataError, VidyaError, reason
from engine.storage.reading import SAVE_FIRST, is_special, open_regular
from vidya_tui.cli.common import say

PATIENCE = 2.0
"""Seconds without input before vidya says what it waits for."""


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


def read_file(name: str, advice: str) -> tuple[bytes, str]:
    """The contents of a file or a pipe, and its name for errors; `-` is standard input. name: as it was
    typed, because a Path of ./- is that of -. advice: the next step if it cannot be read. A pipe is waited
    for until its writers have closed it, and stderr says so after PATIENCE. Raises DataError if it cannot be
    read, and for a device, which may never end."""
    if name == "-":
        return b"" if sys.stdin is None else sys.stdin.buffer.read(), "standard input"
    if not name:
        raise DataError("the name of the file is empty", advice)
    path = Path(name)
    try:
        if path.is_fifo():  # as of a shell's <(command)
            return _read_pipe(path), name
        with open_regular(path) as file:
            return file.read(), name
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read ({reason(error)})", advice) from error


def _read_pipe(path: Path) -> bytes:
    """All bytes that programs write to a named pipe. The call waits until a program has opened the pipe for
    writing, and then until all such programs have closed it."""
    words = f"vidya: waits until a program has written {path} and closed it; Ctrl+C stops"
    told = threading.Timer(PATIENCE, say, [words])
    told.daemon = True
    told.start()
    try:
        return path.read_bytes()
    finally:
        told.cancel()


class StoredFile(click.Path):
    """The type of a parameter for a file that is read more than once, so that it cannot be `-`, and no device
    or pipe either: those raise DataError."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == "-":
            self.fail(
                "it cannot be standard input; write a file and name it; a file called - is ./-"
            )
        path: Any = super().convert(value, param, ctx)  # a Path, as path_type says
        if is_special(path):
            raise DataError(f"{path}: is no regular file", SAVE_FIRST)
        return path


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
