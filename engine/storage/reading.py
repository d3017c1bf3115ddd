"""Reading files that somebody else may have made: regular files only, up to a size, JSON up to a depth.

A model's folder can come from anywhere. A pipe in it would be waited for without end, a link can lead
to /dev/zero, nested brackets exhaust the stack. What is refused is a ValueError, so that callers
treat it as any other file that cannot be read. Left out: what the bytes mean.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

JSON_BYTES = 4_000_000
"""Of a config; those that exist have some thousand."""
JSON_DEPTH = 32
"""Brackets within brackets; a config has four."""


def open_regular(path: Path, most: int | None = None, *, links: bool = True) -> BinaryIO:
    """Opens a regular file of at most `most` bytes, without waiting for a pipe's other end.

    links: whether a symbolic link is followed. Raises OSError, and ValueError for anything else.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    if not links and path.is_symlink():
        raise ValueError("it is a link; put the file itself there")
    file = os.fdopen(os.open(path, flags if links else flags | os.O_NOFOLLOW), "rb")
    try:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no regular file")
        if most is not None and found.st_size > most:
            raise ValueError(f"it has {found.st_size:,} bytes, {most:,} are the most")
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: Path, most: int, *, links: bool = True) -> bytes:
    """All bytes of a regular file. Raises OSError and ValueError."""
    with open_regular(path, most, links=links) as file:
        return file.read(most)


def read_json(path: Path, most: int = JSON_BYTES, *, links: bool = True) -> Any:
    """The value in a regular file. Raises OSError and ValueError."""
    return parse_json(read_regular(path, most, links=links))


def parse_json(data: bytes, depth: int = JSON_DEPTH) -> Any:
    """The value of a JSON text in UTF-8, nested at most `depth` deep. Raises ValueError."""
    try:
        value = json.loads(data.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [value]
    for _ in range(depth + 1):
        level = [part for one in level for part in _parts(one)]
        if not level:
            return value
    raise ValueError(f"it is nested more than {depth} deep")


def shown(value: object, most: int = 60) -> str:
    """A value out of such a file for a message: on one line, escaped, cut after `most` characters."""
    text = ascii(value)
    return text if len(text) <= most else f"{text[:most]}..."


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
