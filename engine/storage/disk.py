"""Recognises a full disk and words the error message for it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from engine.errors import CheckpointError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers of a full disk and of a used-up quota."""
_WORDS = ("No space left on device", "Disk quota exceeded", "database or disk is full")
"""Texts in errors that have no error number: of safetensors, SQLite, `shutil.copytree`."""
LEAST = 1_000_000
"""Messages ask the owner to free at least this many bytes; with less, the disk would be full again at
once."""


def is_full(error: BaseException | None) -> bool:
    """True if this error, or an error in its chain of causes, reports a full disk or quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if any(words in str(error) for words in _WORDS):
            return True
        error = error.__cause__
    return False


def free_bytes(path: Path) -> int | None:
    """Free bytes on the disk that holds, or would hold, the path; None if the system does not tell."""
    try:
        found = os.statvfs(_existing(path))
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def full_disk(path: Path, needed: int = LEAST) -> tuple[str, str]:
    """(what, next step) of the error for a full disk. needed: bytes that were to be written to path."""
    free, needed, place = free_bytes(path), max(needed, LEAST), _mount(path)
    # if enough bytes are free, the limit on files or the user's quota is used up
    known = free is not None and free < needed
    left = f"{size(free or 0)} free on {place}" if known else f"or your share of {place} is used up"
    return f"{path}: the disk is full ({left})", f"free {size(needed)} there, then do it again"


def unwritable(path: Path, error: Exception, advice: str, needed: int = LEAST) -> tuple[str, str]:
    """(what, next step) of the error for a file or folder that could not be written. For a full disk as
    `full_disk`, otherwise the system's reason and the given advice."""
    if is_full(error):
        return full_disk(path, needed)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{path}: cannot be written ({reason})", advice


def demand_room(path: Path, needed: int) -> None:
    """Called before long work whose result must be stored. needed: in bytes. Raises CheckpointError if fewer
    are free on the disk of path."""
    free = free_bytes(path)
    if free is not None and free < needed:
        raise CheckpointError(*full_disk(path, needed))


def size(count: int) -> str:
    """A number of bytes, rounded, with its unit: 900 kB, 41 MB, 2.5 GB."""
    if count < 1_000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{round(count / 1e3)} kB"
    return f"{round(count / 1e6)} MB" if count < 1_000_000_000 else f"{count / 1e9:.1f} GB"


def _existing(path: Path) -> Path:
    """The path, or its nearest parent that exists."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _mount(path: Path) -> Path:
    """The mount point of the disk that holds the path."""
    place = _existing(path).resolve()
    while not place.is_mount() and place != place.parent:
        place = place.parent
    return place
