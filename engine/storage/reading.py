"""Reads untrusted files: only regular ones, up to a size limit, and JSON up to a nesting depth.

A model's folder may come from anywhere. Reading a pipe in it would block forever, a link may lead to
/dev/zero, and deeply nested JSON exhausts the stack. All refusals are ValueErrors, so that callers handle
them like any other unreadable file. Left out: the meaning of the contents.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

JSON_BYTES = 4_000_000
"""Size limit of a JSON file such as a config. Real ones have a few thousand bytes."""
JSON_DEPTH = 32
"""Limit of the nesting depth. Real configs have 4 levels."""
SAVE_FIRST = "save what it gives as a file, and name that"
"""The next step where a device or a pipe is refused."""


def open_regular(path: Path, most: int | None = None, *, links: bool = True) -> BinaryIO:
    """Opens a regular file for reading. Never blocks, not even on a pipe.

    most: size limit in bytes; None for no limit. links: follow a symbolic link. Raises OSError, and
    ValueError if the file is refused.
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


def is_special(path: Path) -> bool:
    """True for a device, a pipe or a socket: reading it may never end, and no file can replace it. False for
    a path that cannot be looked at, which fails when it is used."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL byte in the path
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_regular(path: Path, most: int, *, links: bool = True) -> bytes:
    """The contents of a regular file of at most `most` bytes. Raises OSError and ValueError."""
    with open_regular(path, most, links=links) as file:
        return file.read(most)


def read_json(path: Path, most: int = JSON_BYTES, *, links: bool = True) -> Any:
    """The value of a JSON file of at most `most` bytes. Raises OSError and ValueError."""
    return parse_json(read_regular(path, most, links=links))


def parse_json(data: bytes, depth: int = JSON_DEPTH) -> Any:
    """The value of a JSON text in UTF-8. depth: limit of the nesting depth. Raises ValueError."""
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
    """An untrusted value for an error message: one line of ASCII, cut after `most` characters."""
    text = ascii(value)
    return text if len(text) <= most else f"{text[:most]}..."


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
