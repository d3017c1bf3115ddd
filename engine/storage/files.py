"""Writes files atomically and with permissions for their owner only.

A new file or folder is first written to a temporary folder beside its target, under a name that `is_leftover`
recognises. A program that is killed leaves only that folder; `remove_leftovers` removes it later. Left out:
locking (learning.home).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from engine.storage.reading import is_special

_LEFTOVER = re.compile(
    r"""\..+\.[0-9a-f]{32}\.tmp        # made by temporary_name; the others are of earlier versions:
    | \..+\.[0-9a-f]{32}               # atomic writes
    | \.tmp[A-Za-z0-9]{6}              # the temporary file of safetensors
    | \.model\.safetensors\.rollback
    | \d{8}\.new                       # a snapshot that was linked but not yet renamed""",
    re.VERBOSE,
)
_LEFT_MODEL = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.\d+")
"""A model folder that is being created: dot, name of the model, dot, process id."""
ABANDONED = 60.0
"""A temporary file unchanged for this many seconds counts as left by a killed program."""


def temporary_name(path: Path) -> Path:
    """An unused name in the folder of path, which `is_leftover` recognises."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def is_leftover(path: Path) -> bool:
    """True if the file or folder has a name that temporary files or folders have."""
    if path.parent.name == "models" and _LEFT_MODEL.fullmatch(path.name):
        return path.is_dir()
    return _LEFTOVER.fullmatch(path.name) is not None


def leftovers(folder: Path) -> list[Path]:
    """The temporary files and folders directly in the folder, sorted by name."""
    try:
        return sorted(path for path in folder.iterdir() if is_leftover(path))
    except OSError:
        return []


def remove_leftovers(folder: Path, untouched: float = ABANDONED) -> None:
    """Removes temporary files that killed programs left in the folder.

    untouched: remove only what has not changed for this many seconds; 0 if no other program can be writing.
    Ignores files that cannot be removed.
    """
    for path in leftovers(folder):
        with contextlib.suppress(OSError):
            if time.time() - last_change(path) >= untouched:
                remove(path)


def last_change(path: Path) -> float:
    """Time of the last change, in seconds since the epoch; of a folder, the latest of everything in it.
    Raises OSError."""
    found = [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]
    return max(one.lstat().st_mtime for one in found)


def absolute(path: str | Path) -> Path:
    """The path from the root, without "~", "." and ".."; links stay links."""
    return Path(os.path.abspath(Path(path).expanduser()))


def remove(path: Path) -> None:
    """Removes a file, a link (not its target) or a folder with its contents. Does nothing if the path does
    not exist. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_durably(path: Path) -> None:
    """Removes a file and waits until the removal is on the disk. Raises OSError."""
    path.unlink(missing_ok=True)
    _sync(path.parent)


def make_private_folder(path: Path) -> None:
    """Creates the folder and its missing parents, with access for their owner only. An existing folder stays
    unchanged. Raises OSError."""
    for folder in [*reversed(path.parents), path]:
        with contextlib.suppress(FileExistsError):
            if not folder.exists():
                folder.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(20, "is not a folder", str(path))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a path for a new file; on exit the new file replaces `path` atomically and durably.

    The yielded path is in a temporary folder of its own, so other files that a library writes beside it
    disappear with the folder. The new file gets the permissions of the old one, or access for its owner only;
    one that has several hard links keeps its own. If the block raises, the old file stays. Raises OSError.
    """
    folder = temporary_name(path)
    folder.mkdir(mode=0o700)
    try:
        new = folder / path.name
        yield new
        if new.stat().st_nlink == 1:
            new.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        _sync(new)
        os.replace(new, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _sync(path.parent)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yields a folder to fill; on exit it becomes `path`, atomically and durably, with access for its owner
    only. If the block raises, nothing is left. Raises OSError, also if `path` exists and is not an empty
    folder."""
    make_private_folder(path.parent)
    folder = temporary_name(path)
    folder.mkdir(mode=0o700)
    try:
        yield folder
        for below, _, files in os.walk(folder, topdown=False):
            for name in files:
                (Path(below) / name).chmod(0o600)
                _sync(Path(below) / name)
            Path(below).chmod(0o700)
            _sync(Path(below))
        os.replace(folder, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _sync(path.parent)


def write_atomically(path: Path, text: str) -> None:
    """Replaces the text of a file; a crash leaves either the old or the new text.

    Follows symbolic links. Permissions as with `replacing`. Writes directly to a pipe or a device such as
    /dev/stdout. Encodes as UTF-8 with `surrogateescape`, so bytes read that way are written unchanged. Raises
    OSError.
    """
    data = text.encode("utf-8", "surrogateescape")
    if is_special(path):
        path.write_bytes(data)
        return
    with replacing(path.resolve()) as new:
        new.write_bytes(data)


def copy_atomically(source: Path, target: Path, *, link: bool = False) -> None:
    """Copies source to target atomically, replacing an existing target. Raises OSError.

    link: makes a hard link instead if the file system can. Such a file must never be modified in place.
    """
    if link and target.exists() and source.samefile(target):
        return
    with replacing(target) as new:
        if link:
            with contextlib.suppress(OSError):  # the file system has no hard links
                os.link(source, new)
                return
        shutil.copyfile(source, new)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
