"""Reads both books as one list and marks duplicates, contradictions and unreadable lines.

The shipped book comes first, then the owner's. Of several answers to one question (folded, see
learning.text.normalise) the last counts, as in learning.memory.build. Torch-free; only the teacher can
tell whether the model knows an entry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine.errors import DataError
from learning.protocol.records import as_turns
from learning.protocol.requests import Probe
from learning.text.normalise import fold, fold_prompt
from personality.book import MARKER, LineError, parse_line

Show = Literal["all", "own", "shipped", "twice", "contradictions", "bad"]


@dataclass(frozen=True)
class BookLine:
    """One line of a book that is neither blank nor a comment."""

    own: bool
    """True if it is in the owner's book, False if in the shipped one."""
    line: int
    """Line number, from 1."""
    text: str
    """The line as in the file, stripped."""
    turns: tuple[tuple[str, str], ...] = ()
    """(role, text) of each turn; empty if the line cannot be parsed."""
    problem: str = ""
    """Why the line cannot be parsed and what to do; else empty."""
    replaced: bool = False
    """True if a later line answers the same question, so that this one does not count."""
    twice: bool = False
    """True if the same book has another line with the same question and answer."""
    contradicted: bool = False
    """True if the same book has another answer to the same question."""

    @property
    def question(self) -> str:
        """The last turn before the answer; the whole line if it cannot be parsed."""
        return self.turns[-2][1] if self.turns else self.text

    @property
    def answer(self) -> str:
        return self.turns[-1][1] if self.turns else ""

    @property
    def begun(self) -> tuple[str, str]:
        """The question and the answer that an edit begins with. Those of a line that cannot be parsed are the
        texts before and after its first <|assistant|>, without markers, because no entry may contain one."""
        if self.turns:
            return self.question, self.answer
        question, _, answer = self.text.partition("<|assistant|>")
        return _without_markers(question), _without_markers(answer)

    @property
    def probe(self) -> Probe | None:
        """A probe whether the model knows the line; None if the line does not count."""
        if not self.turns or self.replaced:
            return None
        turns = as_turns(self.turns[:-1])
        return Probe(turns, self.answer)


def read_books(shipped: Path, own: Path | None) -> list[BookLine]:
    """All lines of both books, with their marks. The owner's book may be missing. Raises DataError if a
    file cannot be read."""
    lines = [*_lines(shipped, False), *(_lines(own, True) if own else ())]
    places: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        if line.turns:
            places[fold_prompt(line.turns[:-1])].append(place)
    for same in places.values():
        if len(same) > 1:
            _mark(lines, same)
    return lines


def select(lines: Iterable[BookLine], search: str = "", show: Show = "all") -> list[BookLine]:
    """The lines of one kind that contain all words of `search` (folded), in order."""
    words = fold(search).split() or [search.casefold().strip()]
    chosen = {
        "all": lambda line: True,
        "own": lambda line: line.own,
        "shipped": lambda line: not line.own,
        "twice": lambda line: line.twice,
        "contradictions": lambda line: line.contradicted,
        "bad": lambda line: bool(line.problem),
    }[show]

    def has(line: BookLine) -> bool:
        if not words[0]:
            return True
        text = fold(line.text)
        return all(word in text for word in words) or search.casefold() in line.text.casefold()

    return [line for line in lines if chosen(line) and has(line)]


def standing(lines: Iterable[BookLine], turns: Sequence[tuple[str, str]]) -> BookLine | None:
    """The line that counts for this prompt (the last of several); None if there is none."""
    wanted = fold_prompt(turns)
    same = [line for line in lines if line.turns and fold_prompt(line.turns[:-1]) == wanted]
    return same[-1] if same else None


def _without_markers(text: str) -> str:
    """The words of the text without its markers, one space between them."""
    return " ".join(MARKER.sub(" ", text).split())


def _mark(lines: list[BookLine], same: list[int]) -> None:
    """Marks lines with the same question, given by index; the last of them counts."""
    answers = [fold(lines[place].answer) for place in same]
    for at, place in enumerate(same):
        line, others = lines[place], [n for n in range(len(same)) if n != at]
        lines[place] = replace(
            line,
            replaced=at < len(same) - 1,
            # compare within one book only: an owner's line that repeats the shipped book is a pick,
            # and one that differs from it is an edit
            twice=any(answers[n] == answers[at] and lines[same[n]].own == line.own for n in others),
            contradicted=any(
                answers[n] != answers[at] and lines[same[n]].own == line.own for n in others
            ),
        )


def _lines(path: Path, own: bool) -> Iterable[BookLine]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror})", "check its permissions"
        ) from error
    for number, raw in enumerate(data.split(b"\n"), start=1):
        # surrogateescape: a line that is not UTF-8 can still be removed
        text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            yield BookLine(own, number, text.strip(), parse_line(text))
        except LineError as error:
            yield BookLine(own, number, text.strip(), problem=str(error))
