"""A disk that is full: how that is recognised, and what is said about it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from engine.errors import CheckpointError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers of a full disk, and of a user's quota that is used up."""
_WORDS = ("No space left on device", "Disk quota exceeded", "database or disk is full")
"""What libraries say that keep no error number: safetensors, SQLite, shutil for a whole tree."""
LEAST = 1_000_000
"""Bytes that are asked for at least: below that a disk is full again at once."""


def is_full(error: BaseException | None) -> bool:
    """Whether this error, or the one that caused it, says that a disk is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if any(words in str(error) for words in _WORDS):
            return True
        error = error.__cause__
    return False


def free_bytes(path: Path) -> int | None:
    """Bytes that may still be written where the path is or would be; None where nobody can tell."""
    try:
        found = os.statvfs(_existing(path))
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def full_disk(path: Path, needed: int = LEAST) -> tuple[str, str]:
    """(what, next step) for a disk that was full when `needed` bytes were to be written to the path."""
    free, needed, place = free_bytes(path), max(needed, LEAST), _mount(path)
    # with room there, it is the number of files or this user's share that is used up
    known = free is not None and free < needed
    left = f"{size(free or 0)} free on {place}" if known else f"or your share of {place} is used up"
    return f"{path}: the disk is full ({left})", f"free {size(needed)} there, then do it again"


def unwritable(path: Path, error: Exception, advice: str, needed: int = LEAST) -> tuple[str, str]:
    """(what, next step) for a file or folder that could not be written: that the disk is full, where it
    is and how much is needed; else the system's reason and the advice."""
    if is_full(error):
        return full_disk(path, needed)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{path}: cannot be written ({reason})", advice


def demand_room(path: Path, needed: int) -> None:
    """Before work whose result could not be kept. Raises CheckpointError where fewer bytes than needed
    are free."""
    free = free_bytes(path)
    if free is not None and free < needed:
        raise CheckpointError(*full_disk(path, needed))


def size(count: int) -> str:
    """Bytes for people, rounded: 900 kB, 41 MB, 2.5 GB."""
    if count < 1_000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{round(count / 1e3)} kB"
    return f"{round(count / 1e6)} MB" if count < 1_000_000_000 else f"{count / 1e9:.1f} GB"


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _mount(path: Path) -> Path:
    """Where the disk that holds the path is mounted."""
    place = _existing(path).resolve()
    while not place.is_mount() and place != place.parent:
        place = place.parent
    return place
