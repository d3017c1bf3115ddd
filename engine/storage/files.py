"""Writing files so that they are never seen half written, and only by their owner.

Whatever is written first stands in a temporary folder beside its place, under a name that
`is_leftover` knows: a program that is killed leaves that folder and nothing else, and
`remove_leftovers` finds it. Left out: what is written, and who may write (learning.home's locks).
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

_LEFTOVER = re.compile(
    r"""\..+\.[0-9a-f]{32}\.tmp        # as temporary_name makes them;
    | \..+\.[0-9a-f]{32}               # all else is what earlier programs left: atomic writes,
    | \.tmp[A-Za-z0-9]{6}              # what safetensors writes before it renames,
    | \.model\.safetensors\.rollback
    | \d{8}\.new                       # a snapshot, linked and not yet renamed""",
    re.VERBOSE,
)
_LEFT_MODEL = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.\d+")
"""The folder of a new model among the others, by the number of the process that made it."""
ABANDONED = 60.0
"""Seconds without a change after which a temporary file is taken for one of a killed program."""


def temporary_name(path: Path) -> Path:
    """A fresh name beside `path`, that `is_leftover` knows."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def is_leftover(path: Path) -> bool:
    """Whether a file or folder is named as one that is, or was, being written."""
    if path.parent.name == "models" and _LEFT_MODEL.fullmatch(path.name):
        return path.is_dir()
    return _LEFTOVER.fullmatch(path.name) is not None


def leftovers(folder: Path) -> list[Path]:
    """What is, or was, being written in the folder, by name; not what is further below."""
    try:
        return sorted(path for path in folder.iterdir() if is_leftover(path))
    except OSError:
        return []


def remove_leftovers(folder: Path, untouched: float = ABANDONED) -> None:
    """Removes what programs that were killed left in the folder.

    untouched: seconds since it was last changed, at least; 0 where nobody else can be writing.
    What cannot be removed stays.
    """
    for path in leftovers(folder):
        with contextlib.suppress(OSError):
            if time.time() - last_change(path) >= untouched:
                remove(path)


def last_change(path: Path) -> float:
    """Seconds since the epoch, of it or of the newest thing in it. Raises OSError."""
    found = [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]
    return max(one.lstat().st_mtime for one in found)


def remove(path: Path) -> None:
    """Removes a file, a link (never what it leads to) or a folder with all in it; nothing where there
    is nothing. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_durably(path: Path) -> None:
    """Removes a file, on the disk too, before anything else is written. Raises OSError."""
    path.unlink(missing_ok=True)
    _sync(path.parent)


def make_private_folder(path: Path) -> None:
    """Makes the folder and those above it that are missing, all for their owner only. One that is
    there stays as it is. Raises OSError."""
    for folder in [*reversed(path.parents), path]:
        with contextlib.suppress(FileExistsError):
            if not folder.exists():
                folder.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(20, "is not a folder", str(path))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write a new file at, which then takes the place of `path`, whole and on the disk.

    It lies in a temporary folder of its own, so that whatever else a library writes beside it stays
    there too. The new file has the permissions of the one it replaces, else is for its owner only; a
    link to another file has that one's. Where anything is raised the old file stays. Raises OSError.
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
    """A folder to fill, which then becomes `path`, whole, on the disk and for its owner only. Where
    anything is raised there is nothing. Raises OSError, also where `path` holds something already."""
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
    """Replaces a file's text so that a crash leaves either the old or the new one, whole.

    Follows a symbolic link; permissions as `replacing` has them. What is there and no file, as a pipe
    or /dev/stdout, is written into. Bytes that were read with `surrogateescape` are written as they
    were. Raises OSError.
    """
    data = text.encode("utf-8", "surrogateescape")
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    with replacing(path.resolve()) as new:
        new.write_bytes(data)


def copy_atomically(source: Path, target: Path, *, link: bool = False) -> None:
    """Puts a file's bytes under another name, in the place of what is there. Raises OSError.

    link: both names may be one file, where the file system can do that; it must then never be written
    into.
    """
    if link and target.exists() and source.samefile(target):
        return
    with replacing(target) as new:
        if link:
            with contextlib.suppress(OSError):  # a file system without links
                os.link(source, new)
                return
        shutil.copyfile(source, new)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
