"""Which drawn answers may be shown: the engine's `Standards`, made of what the books and lessons say.

An answer is drawn anew where
- its form is flawed (learning.text.flaws),
- it comforts somebody who is not in need (learning.text.comfort), and the model is not sure of it,
- it answers "Where do I live?" with what was taught to "Where do you live?",
- it says that Vidya does not know, where that is not so.
Where a question is asked to which nothing was taught, and the model is sure of no answer, the last of
several candidates says NOT_KNOWN. What was taught to a question may always be said to it. Left out:
drawing (engine.generate).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.selection import Finished, Standards
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.records import Lesson, Turns
from learning.teacher.certainty import AT_A_LOSS, SURE, certainty, of_not_knowing
from learning.text.comfort import in_need, in_place
from learning.text.flaws import Blends, broken, chunks, mended, seams
from learning.text.normalise import fold
from learning.text.questions import is_question
from personality.book import NEED, BookEntry, BookError, read_book, shipped_book_path

NOT_KNOWN_FOLD = fold(NOT_KNOWN)


@dataclass(frozen=True)
class Known:
    """What the books and lessons say."""

    answers: dict[str, frozenset[str]]
    """Folded question -> its folded answers."""
    seen: frozenset[str]
    """Words and chunks of all answers, which are right as they are written."""
    blends: Blends
    comfort: dict[str, frozenset[str]]
    """Folded answer for somebody in need -> the folded questions that it was written for."""

    @classmethod
    def of(cls, entries: Sequence[BookEntry], lessons: Iterable[Lesson]) -> Known:
        pairs = [
            (entry.turns[i][1], entry.turns[i + 1][1])
            for entry in entries
            for i in range(0, len(entry.turns), 2)
        ]
        pairs += [(x.prompt[-1].text, x.answer) for x in lessons if x.prompt and x.answer]
        need = [(e.answer, e.question) for e in entries if e.heading.startswith(NEED)]
        texts = [answer for _, answer in pairs]
        return cls(_grouped(pairs), chunks(texts), Blends(texts), _grouped(need))


_OTHERS = {
    **{"i": "you", "me": "you", "my": "your", "mine": "yours", "am": "are", "im": "youre"},
    **{
        "you": "i",
        "your": "my",
        "yours": "mine",
        "youre": "im",
        "myself": "yourself",
        "yourself": "myself",
    },
}


def other_person(question: str) -> str:
    """The question, folded, asked of the other one: "where do i live" to "Where do you live?"."""
    words = [_OTHERS.get(word, word) for word in fold(question).split()]
    text = f" {' '.join(words)} "  # the verb belongs to its subject
    return text.replace(" are i ", " am i ").replace(" i are ", " i am ").strip()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """First of each pair, folded -> all that stand second, folded."""
    found: dict[str, set[str]] = {}
    for first, second in pairs:
        found.setdefault(fold(first), set()).add(fold(second))
    return {first: frozenset(seconds) for first, seconds in found.items()}


@dataclass
class AnswerCheck:
    """Of one ask."""

    turns: Turns
    """All that was said; the last is the owner's."""
    known: Known
    several: bool
    """More than one candidate is asked for."""
    told: list[float | None] = field(default_factory=list)
    """Certainties of those that stay."""

    def __post_init__(self) -> None:
        self._said = [turn.text for turn in self.turns if turn.role == "user"]
        self._seen = self.known.seen | chunks(turn.text for turn in self.turns)
        self._broken = any(broken(turn.text) for turn in self.turns)
        self._answers = self.known.answers.get(fold(self._said[-1]), frozenset())
        self._in_need = in_need(self._said)

    @property
    def may_not_know(self) -> bool:
        """It could be right to say so: a question to which nothing was taught."""
        return not self._answers and not self._in_need and is_question(self._said[-1])

    def standards(self, tokenizer: Tokenizer, max_tokens: int) -> Standards:
        """For engine.generate."""
        fallback = (*tokenizer.encode(NOT_KNOWN), tokenizer.chat.end)
        fits = self.may_not_know and len(fallback) <= max_tokens
        return Standards(self.acceptable, fallback if fits else (), self.at_a_loss)

    def acceptable(self, answer: Finished) -> bool:
        """Whether it may be shown."""
        folded = fold(answer.text)
        if folded in self._answers:
            return True
        sure = (certainty(answer.own_logprobs) or 0.0) >= SURE
        if folded == NOT_KNOWN_FOLD:  # several: comes at the end, where nothing else is sure
            return sure or not (self.several or self._answers)
        if folded in self.known.comfort:
            return sure or in_place(self._said, self.known.comfort[folded])
        if folded in self.known.answers.get(other_person(self._said[-1]), frozenset()):
            return False  # where the owner lives is not where Vidya does
        if broken(answer.text) and not self._broken:
            return False
        return not (seams(answer.text, self._seen) or self.known.blends.blended(answer.text))

    def at_a_loss(self, answers: Sequence[Finished]) -> bool:
        """Whether the model may as well have invented all of them."""
        if any(fold(answer.text) == NOT_KNOWN_FOLD for answer in answers):
            return False
        return all((certainty(answer.own_logprobs) or 0.0) < AT_A_LOSS for answer in answers)

    def shown(self, answer: Finished, count: int) -> tuple[str, float | None]:
        """(its text, how sure the model is) of an answer that stays, in the order they end; count: of
        all candidates. One that no redraw made acceptable is mended."""
        if answer.ending == "cancelled":
            return answer.text, None
        sure = certainty(answer.own_logprobs)
        last = len(self.told) == count - 1
        if fold(answer.text) == NOT_KNOWN_FOLD and self.may_not_know and last and self.told:
            sure = max(sure or 0.0, of_not_knowing(self.told))
        self.told.append(sure)
        seen = self._seen
        return (answer.text if self._broken else mended(answer.text, seen)), sure


class KnownTexts:
    """What the books and lessons say now; read again when they change."""

    def __init__(self, journal: Journal, owner_book: Path) -> None:
        self._journal, self._book = journal, owner_book
        self._shipped = read_book(shipped_book_path())
        self._mark: object = None
        self._known = Known.of(self._shipped, ())

    def now(self) -> Known:
        """Lines of the owner's book that cannot be read count as absent. Raises JournalError."""
        lessons = self._journal.standing()
        try:
            state = self._book.stat()
            book: object = (state.st_mtime_ns, state.st_size)
        except OSError:
            book = None
        mark = (book, tuple((x.id, x.answer) for x in lessons))
        if mark != self._mark:
            self._known, self._mark = Known.of([*self._shipped, *self._own()], lessons), mark
        return self._known

    def _own(self) -> list[BookEntry]:
        """The owner's lines stand under no heading of ours."""
        try:
            return [replace(e, heading="") for e in read_book(self._book, skip_bad=True)]
        except BookError:
            return []
