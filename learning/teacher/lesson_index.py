"""The lessons that may be recalled, and the lines of the book, with their vectors.

    index = LessonIndex(learner, journal)
    index.finish()
    cosines = index.known @ shipped_encoder().encode(["my dog is called what?"])[0]

Vectors are computed in pieces, so that an answer never waits for all of them. The home keeps them, in one
file for the book and one for the lessons, so that the next start does not compute them again. When all are
computed, the vectors of lessons that no longer stand leave the file; `forget` takes a lesson's out at once
(learning.lessons.forget). Left out: which lesson a question asks for (learning.teacher.recall).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.encoder import shipped_encoder
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.lesson_vectors import KnownAnswer, VectorFile, lesson_vectors
from learning.protocol.records import Lesson
from learning.teacher.meant import folded, general_answers, question_of, recallable
from learning.text.kinds.recognise import Asked, what_is_asked
from personality.book import shipped_book_path

PIECE = 32
"""Lessons per pass; an offer waits for one at most. So many new ones are not worth another writing of the
file."""

_NAMES = re.compile(r"\b(?:called|names?|named|who)\b", re.IGNORECASE)
_YOUR = re.compile(r"\byour\b", re.IGNORECASE)
_VIDYAS_OWN = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)


def _may_name(one: KnownAnswer) -> bool:
    """Whether a lesson may tell who is called what, and of the owner's people, not Vidya's."""
    vidyas = _VIDYAS_OWN.search(one.answer) or _YOUR.search(one.question)
    return bool(_NAMES.search(one.question)) and not vidyas


class LessonIndex:
    """What can be recalled of one model. Call `refresh` before you read its lists. Not thread-safe."""

    def __init__(self, learner: Learner, journal: Journal) -> None:
        self._learner, self._journal = learner, journal
        self._mark: object = None
        self._vectors: dict[KnownAnswer, Tensor] = {}
        """[S] each, of the book and of lessons that stand."""
        self._lesson_file = VectorFile(learner.home.lesson_vectors_path, spare=PIECE)
        self._book_file = VectorFile(learner.home.book_vectors_path)
        self._book: list[KnownAnswer] = []
        """The lines of the shipped book; empty while there are no lessons."""
        self.lessons: list[Lesson] = []
        """Those that stand and may be recalled."""
        self.own: list[KnownAnswer] = []
        """What `lessons` teach, in their order."""
        self.folded: list[str] = []
        """The folded answers of `own`."""
        self.wanted: list[KnownAnswer] = []
        """`own`, then the lines of the book."""
        self.known: Tensor | None = None
        """[len(wanted), S]; None while some are missing."""
        self.exact: dict[str, Lesson] = {}
        """Folded question -> its lesson."""
        self.of_kind: dict[Asked, Lesson] = {}
        """What is asked -> the newest lesson that asks it."""
        self._naming: list[str] = []
        self.general = frozenset[str]()
        """Folded answers that may fit any question: see `general_answers`, and those of the book."""

    def refresh(self) -> None:
        """Reads the lessons again if they have changed, and drops the vectors of those that are gone. Raises
        JournalError."""
        mark = self._journal.lessons_mark()
        if mark == self._mark:
            return
        self.known = None
        standing = self._journal.standing()
        self.lessons = recallable(standing)
        self.general = general_answers(standing)
        self.exact = {folded(question_of(lesson)): lesson for lesson in self.lessons}
        kinds = ((what_is_asked(question_of(lesson)), lesson) for lesson in self.lessons)
        self.of_kind = {asked: lesson for asked, lesson in kinds if asked}
        self.own = [KnownAnswer.of(lesson) for lesson in self.lessons]
        self._naming = [_YOUR.sub("my", x.answer) for x in self.own if _may_name(x)]
        self.folded = [folded(one.answer) for one in self.own]
        if self._mark is None:
            self._vectors |= self._lesson_file.read(self.own)
        book = self._lines_of_book() if self.own else []
        if book and book != self._book:
            self._book = book
            self._vectors |= self._book_file.read(book)
        self.general |= {folded(one.answer) for one in book}
        self.wanted = [*self.own, *(one for one in book if folded(one.question) not in self.exact)]
        self._vectors = self._of([*self.wanted, *self._book])
        self._mark = mark

    def missing(self, wanted: Sequence[KnownAnswer]) -> list[KnownAnswer]:
        """What of it has no vector yet."""
        return [one for one in wanted if one not in self._vectors]

    def add(self, missing: Sequence[KnownAnswer]) -> None:
        """Computes their vectors. Raises CheckpointError if the encoder cannot be read."""
        if missing:
            vectors = lesson_vectors(shipped_encoder(), missing)
            self._vectors |= {one: v.clone() for one, v in zip(missing, vectors, strict=True)}

    def finish(self) -> None:
        """Computes all that is missing. Without lessons `known` stays None. Raises JournalError, and
        CheckpointError if the encoder cannot be read."""
        while self.step():
            pass

    def step(self) -> bool:
        """Computes a piece of what is missing, and writes the files once nothing is. Returns False when
        nothing was missing. Raises like `finish`."""
        self.refresh()
        if not self.own:
            self._lesson_file.keep({})
            return False
        if self.known is not None:
            return False
        if missing := self.missing(self.wanted)[:PIECE]:
            self.add(missing)
        else:
            self.known = torch.stack([self._vectors[one] for one in self.wanted])
            self._lesson_file.keep(self._of(self.own))
            self._book_file.keep(self._of(self._book))
        return True

    def own_known(self) -> Tensor:
        """[len(own), S]; none of them is missing, but lines of the book may be."""
        if self.known is not None:
            return self.known[: len(self.own)]
        return torch.stack([self._vectors[one] for one in self.own])

    def _of(self, lines: Sequence[KnownAnswer]) -> dict[KnownAnswer, Tensor]:
        return {one: self._vectors[one] for one in lines if one in self._vectors}

    def naming(self) -> list[str]:
        """The lessons' answers that tell somebody's name, with "my" for "your". Raises JournalError."""
        self.refresh()
        return self._naming

    def texts_of_book(self) -> list[str]:
        """Questions and answers of the shipped book."""
        return [text for one in self._lines_of_book() for text in (one.question, one.answer)]

    def _lines_of_book(self) -> list[KnownAnswer]:
        """What the shipped book knows: it is asked for if it is nearer than any lesson."""
        entries = self._learner.caches.books.entries(shipped_book_path())
        return list(dict.fromkeys(KnownAnswer(*(text for _, text in e.turns[:2])) for e in entries))
