"""Edits the owner's book: adds picked and typed answers, removes those that are undone.

One exchange per line, in the format of personality.book. Left out: reading and searching the whole book
(learning.book.check).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.errors import DataError
from engine.storage.disk import unwritable
from engine.storage.files import write_atomically
from learning.text.normalise import fold_spaces
from personality.book import MARKER, LineError, append_entry, format_line


class OwnerBook:
    """The book at `path`; the file is created with its first line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, question: str, answer: str) -> bool:
        """Appends the exchange; False if these texts do not fit the format of a book.

        Raises DataError if the file cannot be written.
        """
        try:
            self.append((("user", question), ("assistant", answer)))
            return True
        except LineError:
            return False

    def append(self, turns: Sequence[tuple[str, str]]) -> None:
        """Appends a conversation. Raises LineError if it does not fit the format of a book, DataError if
        the file cannot be written."""
        try:
            append_entry(self.path, turns)
        except OSError as error:
            raise self._unwritable(error) from error
        self._stamp()

    def take_out(self, question: str, answer: str) -> bool:
        """Removes the last line with exactly this exchange; False if there is none.

        All other bytes of the file stay, including comments and bad lines. Raises DataError.
        """
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return False
        try:
            # surrogateescape: bytes that are not UTF-8 are written back unchanged
            text = self.path.read_bytes().decode("utf-8", "surrogateescape")
            lines = text.split("\n")
            for number in range(len(lines) - 1, -1, -1):
                if lines[number].strip() == line:
                    del lines[number]
                    self._write(lines)
                    return True
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unwritable(error) from error
        return False

    def erase(self, exchanges: Iterable[tuple[str, str]], text: str | None = None) -> int:
        """Removes every line that is one of these exchanges or contains `text` (in any case); returns
        the number of lines removed. All other bytes stay. Raises DataError."""
        unwanted = _as_lines(exchanges)
        within = fold_spaces(text) if text else None
        try:
            lines = self.path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
            kept = [
                line
                for line in lines
                if line.strip() not in unwanted and not (within and within in fold_spaces(line))
            ]
            if len(kept) < len(lines):
                self._write(kept)
            return len(lines) - len(kept)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._unwritable(error) from error

    def holds(self, text: str, without: Iterable[tuple[str, str]] = ()) -> bool:
        """True if a line contains the text, in any case. Ignores lines of the exchanges in `without`."""
        try:
            whole = self.path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return False
        within, passed_over = fold_spaces(text), _as_lines(without)
        lines = (line for line in whole.split("\n") if line.strip() not in passed_over)
        return any(within in fold_spaces(line) for line in lines)

    def replace(self, question: str, old: str | None, new: str | None) -> None:
        """Removes one answer to the question and adds another; None: no answer. Raises DataError."""
        if old == new or (old is not None and new is not None and self._swap(question, old, new)):
            return
        if old is not None:
            self.take_out(question, old)
        if new is not None:
            self.add(question, new)

    def _swap(self, question: str, old: str, new: str) -> bool:
        """Replaces the old line by a new one in a single write, so that a crash leaves one of them;
        False if the old line is not there or the texts do not fit."""
        try:
            line = format_line((("user", question), ("assistant", old)))
            added = format_line((("user", question), ("assistant", new)))
        except LineError:
            return False
        lines = self._lines()
        place = _place(lines, line)
        if place is None:
            return False
        del lines[place]
        if lines and not lines[-1].strip():
            lines.pop()
        try:
            self._write([*lines, added, ""])
        except OSError as error:
            raise self._unwritable(error) from error
        return True

    def rewrite(self, number: int, old: str, new: str | None) -> None:
        """Replaces a line, or removes it (new=None). All other bytes of the file stay.

        number: from 1. old: the expected text of the line, compared stripped. Raises DataError and
        changes nothing if the line differs or the file cannot be written.
        """
        lines = self._lines()
        if not 1 <= number <= len(lines) or lines[number - 1].strip() != old.strip():
            raise DataError(
                f"{self.path}:{number}: the line was changed by another program",
                "look at the book again, then do it once more",
            )
        lines[number - 1 : number] = [] if new is None else [new]
        try:
            self._write(lines)
        except OSError as error:
            raise self._unwritable(error) from error

    def has(self, question: str, answer: str) -> bool:
        """True if a line is exactly this exchange, or if the exchange does not fit the format."""
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return True
        return _place(self._lines(), line) is not None

    def count(self, question: str, answer: str) -> int:
        """Number of lines with exactly this exchange."""
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return 0
        return sum(one.strip() == line for one in self._lines())

    def answer_to(self, question: str, without: str | None = None) -> str | None:
        """The last answer to exactly this question; None if there is none. without: an answer whose last
        line is ignored."""
        passed = " ".join(without.split()) if without else None
        beginning = f"<|user|> {' '.join(question.split())} <|assistant|> "
        for line in reversed(self._lines()):
            answer = line.strip().removeprefix(beginning)
            if answer == line.strip() or MARKER.search(answer):
                continue
            if answer != passed:
                return answer
            passed = None
        return None

    def written(self) -> float:
        """Modification time of the file in Unix seconds; 0 if it does not exist."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    def _write(self, lines: Sequence[str]) -> None:
        write_atomically(self.path, "\n".join(lines))
        self._stamp()

    def _stamp(self) -> None:
        """Gives the file the time of the journal's clock. A file system's own may be some milliseconds
        behind: then a judgement that is in the book already would count as made after it was written."""
        now = time.time()
        with contextlib.suppress(OSError):
            os.utime(self.path, (now, now))

    def _lines(self) -> list[str]:
        try:
            # surrogateescape: bytes that are not UTF-8 are written back unchanged
            return self.path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> DataError:
        what, next_step = unwritable(self.path, error, "mend the permissions of the book")
        return DataError(what, f"{next_step}; the journal has the answer")


def _place(lines: list[str], line: str) -> int | None:
    """Index of the last line equal to `line`; None if there is none."""
    numbers = range(len(lines) - 1, -1, -1)
    return next((number for number in numbers if lines[number].strip() == line), None)


def _as_lines(exchanges: Iterable[tuple[str, str]]) -> set[str]:
    """The exchanges as lines of a book, without those that do not fit the format."""
    lines = set()
    for question, answer in exchanges:
        with contextlib.suppress(LineError):
            lines.add(format_line((("user", question), ("assistant", answer))))
    return lines
