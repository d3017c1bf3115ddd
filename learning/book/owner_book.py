"""The owner's own book: what was picked and typed goes in, what is taken back comes out.

One exchange a line, in the format of personality.book. Reading it whole and searching it belong to
learning.book.check.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.errors import DataError
from engine.storage.disk import unwritable
from engine.storage.files import write_atomically
from learning.text.normalise import fold_spaces
from personality.book import MARKER, LineError, append_entry, format_line


class OwnerBook:
    """The book at `path`; the file appears with its first line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, question: str, answer: str) -> bool:
        """Appends the exchange; False where a book cannot hold these texts.

        Raises DataError where the file cannot be written.
        """
        try:
            self.append((("user", question), ("assistant", answer)))
            return True
        except LineError:
            return False

    def append(self, turns: Sequence[tuple[str, str]]) -> None:
        """Adds a conversation at the end. Raises LineError where a book cannot hold it, DataError
        where the file cannot be written."""
        try:
            append_entry(self.path, turns)
        except OSError as error:
            raise self._unwritable(error) from error

    def take_out(self, question: str, answer: str) -> bool:
        """Removes the last line that holds exactly this exchange; False where there is none.

        Everything else in the file stays byte for byte as it is, comments and bad lines too.
        """
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return False
        try:
            # surrogateescape: bytes that are no UTF-8 come back as they were
            text = self.path.read_bytes().decode("utf-8", "surrogateescape")
            lines = text.split("\n")
            for number in range(len(lines) - 1, -1, -1):
                if lines[number].strip() == line:
                    del lines[number]
                    write_atomically(self.path, "\n".join(lines))
                    return True
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unwritable(error) from error
        return False

    def erase(self, exchanges: Iterable[tuple[str, str]], text: str | None = None) -> int:
        """Removes every line that holds one of these exchanges, or the text in whatever case;
        returns how many went. The rest of the file stays as it is, byte for byte."""
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
                write_atomically(self.path, "\n".join(kept))
            return len(lines) - len(kept)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._unwritable(error) from error

    def holds(self, text: str, without: Iterable[tuple[str, str]] = ()) -> bool:
        """Whether a line, but for those of these exchanges, has the text in it, in whatever case."""
        try:
            whole = self.path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return False
        within, passed_over = fold_spaces(text), _as_lines(without)
        lines = (line for line in whole.split("\n") if line.strip() not in passed_over)
        return any(within in fold_spaces(line) for line in lines)

    def replace(self, question: str, old: str | None, new: str | None) -> None:
        """Takes one answer to the question out and adds another; None is no answer."""
        if old == new or (old is not None and new is not None and self._swap(question, old, new)):
            return
        if old is not None:
            self.take_out(question, old)
        if new is not None:
            self.add(question, new)

    def _swap(self, question: str, old: str, new: str) -> bool:
        """Takes the old line out and adds the new one in one write, so that a crash leaves one of
        them; False where that cannot be."""
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
            write_atomically(self.path, "\n".join([*lines, added, ""]))
        except OSError as error:
            raise self._unwritable(error) from error
        return True

    def rewrite(self, number: int, old: str, new: str | None) -> None:
        """Puts a line in the place of another, or takes it out (None). Everything else in the file
        stays byte for byte as it is.

        number: counted from 1. old: what the line says now, white space around it aside. Raises
        DataError, with nothing changed, where it says something else or cannot be written.
        """
        lines = self._lines()
        if not 1 <= number <= len(lines) or lines[number - 1].strip() != old.strip():
            raise DataError(
                f"{self.path}:{number}: the line was changed by another program",
                "look at the book again, then do it once more",
            )
        lines[number - 1 : number] = [] if new is None else [new]
        try:
            write_atomically(self.path, "\n".join(lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def has(self, question: str, answer: str) -> bool:
        """Whether some line holds exactly this exchange, or no line could."""
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return True
        return _place(self._lines(), line) is not None

    def count(self, question: str, answer: str) -> int:
        """Lines that hold exactly this exchange."""
        try:
            line = format_line((("user", question), ("assistant", answer)))
        except LineError:
            return 0
        return sum(one.strip() == line for one in self._lines())

    def answer_to(self, question: str, without: str | None = None) -> str | None:
        """The last answer to exactly this question; None where there is none. without: an answer whose
        last line does not count."""
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
        """When the file was last written, in seconds since the epoch; 0 where there is none."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    def _lines(self) -> list[str]:
        try:
            # surrogateescape: bytes that are no UTF-8 come back as they were
            return self.path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> DataError:
        what, next_step = unwritable(self.path, error, "mend the permissions of the book")
        return DataError(what, f"{next_step}; the journal has the answer")


def _place(lines: list[str], line: str) -> int | None:
    """Index of the last line that says exactly this."""
    numbers = range(len(lines) - 1, -1, -1)
    return next((number for number in numbers if lines[number].strip() == line), None)


def _as_lines(exchanges: Iterable[tuple[str, str]]) -> set[str]:
    """As a book has them, but for those that no book can hold."""
    lines = set()
    for question, answer in exchanges:
        with contextlib.suppress(LineError):
            lines.add(format_line((("user", question), ("assistant", answer))))
    return lines
