"""Caches the parsed entries of books and parses a book again only when its file has changed.

Shared by the learner's memory, the check of answers and book training. Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from personality.book import BookEntry, BookError, read_book

Mark = tuple[int, int, int]
"""(inode, time of change in nanoseconds, size in bytes) of a file. Differs after the file was rewritten."""


@dataclass(frozen=True)
class _Read:
    mark: Mark
    skip_bad: bool
    entries: tuple[BookEntry, ...]


class ParsedBooks:
    """A cache of `read_book`, by path. Thread-safe."""

    def __init__(self) -> None:
        self._read: dict[Path, _Read] = {}

    def entries(self, path: Path, skip_bad: bool = False) -> tuple[BookEntry, ...]:
        """The entries of a book, as from `read_book`. skip_bad: leave out bad lines instead of raising.
        Raises BookError."""
        mark = mark_of(path)
        kept = self._read.get(path)
        if kept is None or mark is None or kept.mark != mark or kept.skip_bad > skip_bad:
            try:
                entries, skipped = tuple(read_book(path)), False
            except BookError:
                if not skip_bad:
                    raise
                entries, skipped = tuple(read_book(path, skip_bad=True)), True
            if mark is None:
                return entries
            kept = self._read[path] = _Read(mark, skipped, entries)
        return kept.entries


def mark_of(path: Path) -> Mark | None:
    """The file's present mark; None if it cannot be read."""
    try:
        state = path.stat()
    except (OSError, ValueError):  # ValueError: a NUL byte in the path
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
