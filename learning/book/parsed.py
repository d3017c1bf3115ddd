"""The entries of books, parsed once and again only when a file has changed.

The learner's memory, the check of answers and a training on the book read the same books. Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from personality.book import BookEntry, BookError, read_book

Mark = tuple[int, int, int]
"""A file's inode, time of change in nanoseconds, and size: another one when it was written again."""


@dataclass(frozen=True)
class _Read:
    mark: Mark
    skip_bad: bool
    entries: tuple[BookEntry, ...]


class ParsedBooks:
    """What `read_book` gives, kept for each file. Threads may share it."""

    def __init__(self) -> None:
        self._read: dict[Path, _Read] = {}

    def entries(self, path: Path, skip_bad: bool = False) -> tuple[BookEntry, ...]:
        """As `read_book`. Raises BookError as it does."""
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
    """Another one when the file was written again; None where there is none."""
    try:
        state = path.stat()
    except (OSError, ValueError):  # ValueError: a NUL byte in the path
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
