"""Parses and writes books: text files with one conversation a line.

    <|user|> question <|assistant|> answer [<|user|> ... <|assistant|> ...]

Blank lines and lines that begin with # are skipped. People write books by hand, so every error names the
line and what to do. Left out: tokens and training; here a marker is only text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MARKER = re.compile(r"<\|([\w-]+)\|>")
"""A marker has no spaces inside: `f <| x |> g`, which is Elm code, is ordinary text."""
OLD_END = re.compile(r"<\|end\|>\s*(?=<\|user\|>|$)")
"""The marker at the end of each answer in older books; ignored."""
SHOWN = 10
"""Most problems that the message of a BookError lists."""
HEADING = "# My book. One conversation a line: a question, then the answer I should learn.\n"

NEED = "Comfort in need"
"""Begin of the heading above answers for somebody in need. Such an answer is given only to the questions
that it was written for (learning.text.comfort)."""

Turns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BookEntry:
    """One conversation of a book."""

    turns: Turns
    """(role, text): user and assistant alternate, the user first, the assistant last."""
    line: int
    """Its line in the file, counted from 1."""
    heading: str = field(default="", compare=False)
    """The last comment above it, without its #; empty if there is none."""

    @property
    def question(self) -> str:
        """The last message of the user."""
        return self.turns[-2][1]

    @property
    def answer(self) -> str:
        """The last answer."""
        return self.turns[-1][1]


class LineError(ValueError):
    """A line that is not a conversation: what is wrong, and what to do next."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(what, next_step)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}; {self.next_step}"


class BookError(ValueError):
    """A book that cannot be used. The message lists the first SHOWN problems by line."""

    def __init__(self, path: str | os.PathLike[str], problems: list[tuple[int, str, str]]) -> None:
        super().__init__(path, problems)
        self.path = Path(path)
        self.problems = problems
        """(line, what is wrong, what to do next); line 0 is the file as a whole."""

    def __str__(self) -> str:
        shown = [
            f"{self.path}{f':{line}' if line else ''}: {what}; {next_step}"
            for line, what, next_step in self.problems[:SHOWN]
        ]
        if len(self.problems) > SHOWN:
            shown.append(f"and {len(self.problems) - SHOWN} more")
        return "\n".join(shown)


class EmptyBookError(BookError):
    """A book without errors that contains no conversation."""


def parse_line(text: str) -> Turns:
    """The turns of one line of a book. Runs of white space become one space.

    Raises LineError if the line is not a complete conversation.
    """
    line = OLD_END.sub("", text.removeprefix("\ufeff").rstrip())
    for character in line:
        if character != "\t" and unicodedata.category(character) in ("Cc", "Cs"):
            what = f"control character U+{ord(character):04X} in the line"
            raise LineError(what, "remove it, or type the line again")
    before, *pieces = MARKER.split(line)  # the pieces are alternately marker names and texts
    turns = [
        (role, " ".join(said.split())) for role, said in zip(pieces[::2], pieces[1::2], strict=True)
    ]
    for role, _ in turns:
        if role not in ("user", "assistant"):
            raise LineError(f"unknown marker <|{role}|>", "use only <|user|> and <|assistant|>")
    if not turns or turns[0][0] != "user":
        next_step = "begin with <|user|> and the question, or with # to make it a comment"
        raise LineError("no <|user|> at the start of the line", next_step)
    if before.strip():
        raise LineError("text before the first marker", "move it after <|user|>, or remove it")
    last = ""
    for role, said in turns:
        if role == last:
            next_step = "put what the other one said between them, or remove one"
            raise LineError(f"two <|{role}|> turns in a row", next_step)
        if not said and role == "user":
            raise LineError("empty question after <|user|>", "write it, or remove the line")
        if not said:
            next_step = "write the answer, or remove the line"
            raise LineError("no answer after <|assistant|>", next_step)
        last = role
    if last == "user":
        next_step = "add <|assistant|> and the answer, or remove the line"
        raise LineError("no <|assistant|> after the last question", next_step)
    return tuple(turns)


def read_book(path: str | os.PathLike[str], skip_bad: bool = False) -> list[BookEntry]:
    """All conversations of a book, in order. skip_bad: skip bad lines instead of raising.

    Raises BookError if the file cannot be read, is not UTF-8 text, contains no conversation (EmptyBookError
    if it has no bad line either), or, without `skip_bad`, has a bad line.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise BookError(path, [(0, "there is no such file", "check the path")]) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        problem = (0, f"cannot be read ({reason})", "check the path and its permissions")
        raise BookError(path, [problem]) from None
    entries: list[BookEntry] = []
    problems: list[tuple[int, str, str]] = []
    heading = ""
    # not splitlines(), which also breaks at rare characters that editors do not count as line ends
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").removeprefix("\ufeff")
            if text.lstrip().startswith("#"):
                heading = text.strip().lstrip("#").strip()
            elif text.strip():
                entries.append(BookEntry(parse_line(text), number, heading))
        except UnicodeDecodeError:
            if b"\0" in data:
                problem = (0, "is not a text file in UTF-8", "save the book as UTF-8 text")
                raise BookError(path, [problem]) from None
            problems.append((number, "not UTF-8 text", "save the file as UTF-8, or mend the line"))
        except LineError as error:
            problems.append((number, error.what, error.next_step))
    if problems and not (skip_bad and entries):
        raise BookError(path, problems)
    if not entries:
        next_step = "write a line: <|user|> question <|assistant|> answer"
        raise EmptyBookError(path, [(0, "holds no conversation", next_step)])
    return entries


def format_line(turns: Sequence[tuple[str, str]]) -> str:
    """The line, without a newline, that `parse_line` parses into these turns.

    Runs of white space, including newlines, become one space. Raises LineError if a text is empty or
    contains a marker or a control character, or if the roles do not alternate.
    """
    clean = tuple((role, " ".join(text.split())) for role, text in turns)
    for _, text in clean:
        if found := MARKER.search(text):
            what = f"the text contains the marker {found[0]}"
            raise LineError(what, "a book cannot hold it, write it another way")
    line = " ".join(f"<|{role}|> {text}" for role, text in clean)
    if parse_line(line) != clean:
        raise LineError("a role is neither user nor assistant", "name the roles so")
    return line


def append_entry(path: str | os.PathLike[str], turns: Sequence[tuple[str, str]]) -> None:
    """Appends a conversation to the book. It is on disk when this returns.

    Creates the file with a heading if it does not exist. Raises LineError as `format_line` does, and
    OSError if the file cannot be written; in both cases the book is unchanged.
    """
    line = format_line(turns) + "\n"
    # mode "a" is O_APPEND, which never overwrites; only the owner may read a new book
    with open(path, "a+b", buffering=0, opener=lambda p, how: os.open(p, how, 0o600)) as book:
        size = book.seek(0, os.SEEK_END)
        book.seek(max(size - 1, 0))
        start = HEADING if size == 0 else "" if book.read(1) == b"\n" else "\n"
        data = (start + line).encode("utf-8")
        written = 0
        try:
            while written < len(data):
                written += book.write(data[written:])
            os.fsync(book.fileno())
        except OSError:
            # remove the partial line, unless another program has appended to the file since
            if book.seek(0, os.SEEK_END) == size + written:
                book.truncate(size)
            raise
    if start == HEADING and os.name == "posix":  # a new file's name is on disk only after this
        folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def shipped_book_path() -> Path:
    """Path of the book that is shipped with the program."""
    return Path(__file__).with_name("vidya.txt")


def everyday_path() -> Path:
    """Path of a book of everyday talk in Vidya's manner. It is trained on, but need not be known word for
    word."""
    return Path(__file__).with_name("everyday.txt")
