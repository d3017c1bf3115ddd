"""The book: conversations in a text file, one a line, and what is wrong with bad lines.

    <|user|> question <|assistant|> answer [<|user|> ... <|assistant|> ...]

Blank lines and lines that begin with # are skipped. Books are written by hand and come from
strangers, so a mistake names its line and what to do about it. Left out: tokens, special ids and
training, which are the engine's and the learner's; here a marker is only text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MARKER = re.compile(r"<\|([\w-]+)\|>")
"""No spaces inside: `f <| x |> g` is ordinary text, in Elm or in a question about it."""
OLD_END = re.compile(r"<\|end\|>\s*(?=<\|user\|>|$)")
"""Older books close every answer with a marker of its own."""
SHOWN = 10
"""How many problems the text of a BookError lists."""
HEADING = "# My book. One conversation a line: a question, then the answer I should learn.\n"

NEED = "Comfort in need"
"""How the heading begins under which stand answers to somebody in need: such an answer is said only to
what it was written for (learning.text.comfort)."""

Turns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BookEntry:
    """One conversation of a book."""

    turns: Turns
    """(role, text): user and assistant by turns, user first, assistant last."""
    line: int
    """Where it stands in its file, counted from 1."""
    heading: str = field(default="", compare=False)
    """The last comment above it, without its #; empty where there is none."""

    @property
    def question(self) -> str:
        """What the user said last."""
        return self.turns[-2][1]

    @property
    def answer(self) -> str:
        """What Vidya should say to it."""
        return self.turns[-1][1]


class LineError(ValueError):
    """A line that is no conversation: what is wrong, and what to do next."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(what, next_step)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}; {self.next_step}"


class BookError(ValueError):
    """A book that cannot be learned from as it is; its text lists the first problems by line."""

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
    """A book with nothing wrong in it, and nothing to learn."""


def parse_line(text: str) -> Turns:
    """Turns of one line of a book; runs of white space inside a text become one space.

    Raises LineError (a ValueError) where the line is no whole conversation.
    """
    line = OLD_END.sub("", text.removeprefix("\ufeff").rstrip())
    for character in line:
        if character != "\t" and unicodedata.category(character) in ("Cc", "Cs"):
            what = f"control character U+{ord(character):04X} in the line"
            raise LineError(what, "remove it, or type the line again")
    before, *pieces = MARKER.split(line)  # the pieces are marker names and texts by turns
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
    """Every conversation of the book, in order. `skip_bad` passes over the lines that are wrong.

    Raises BookError where the file cannot be read, is no text, holds no conversation at all, or
    (without `skip_bad`) has any line that is wrong: nothing of such a book is learned.
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
    # Not splitlines(): it also breaks at rarer characters, which editors do not count as lines.
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
    """The line (without its newline) that `parse_line` reads back as these turns.

    Newlines and runs of white space become single spaces. Raises LineError (a ValueError) where a
    text contains a marker or a control character, is empty, or the roles do not alternate.
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
    """Adds one conversation at the end of the book; it is on the disk when this returns.

    Makes the file, with a heading, where there is none. Raises LineError as `format_line` does,
    before the file is touched, and OSError where it cannot be written: the book is then as it was.
    """
    line = format_line(turns) + "\n"
    # "a" is O_APPEND: never writes over anything; a new book is for its owner only
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
            # Half a line would make the whole book unreadable; another writer's must stay.
            if book.seek(0, os.SEEK_END) == size + written:
                book.truncate(size)
            raise
    if start == HEADING and os.name == "posix":  # the name of a new file is its folder's to keep
        folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def shipped_book_path() -> Path:
    """The book that comes with the program."""
    return Path(__file__).with_name("vidya.txt")


def everyday_path() -> Path:
    """Everyday talk in the manner of the book, which shows how and need not be known by heart."""
    return Path(__file__).with_name("everyday.txt")
