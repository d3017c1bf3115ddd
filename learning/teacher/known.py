"""What books and lessons teach, indexed for the check of answers (learning.teacher.answer_check)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

from learning.journal.contradictions import as_changed, asked_alone
from learning.journal.journal import Journal
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.records import Lesson
from learning.text.comfort import CRISIS
from learning.text.content import content_words
from learning.text.flaws import Blends, chunks
from learning.text.kinds.one_answer import changed_by
from learning.text.kinds.recognise import asks_for_another, asks_the_same
from learning.text.normalise import fold
from learning.text.questions.another import (
    asked_words,
    asks_another,
    fixed_words,
    owned,
    put_in_place,
)
from learning.text.questions.asked_for import fits
from learning.text.questions.yes_or_no import asks_yes_or_no
from personality.book import NEED, BookEntry, BookError, shipped_book_path
from personality.parsed import ParsedBooks, mark_of

NOT_KNOWN_FOLD, CRISIS_FOLD = fold(NOT_KNOWN), fold(CRISIS)
FAR_OF_KIND = 0.7
"""Cosine of a question and a lesson below which its answer is another's, where they are known to ask for
different things. Chosen on lessons_tune*.jsonl and the tuning half of people.jsonl
(benchmarks/results/told_apart.md)."""
OF_OWNER = re.compile(r"\b(?:you|your|yours|we|our)\b", re.IGNORECASE)
"""What a text has that says something of the owner, or asks about it."""


@dataclass(frozen=True)
class Known:
    """What books and lessons teach, indexed for checks."""

    answers: dict[str, frozenset[str]]
    """Folded question -> its folded answers."""
    seen: frozenset[str]
    """Words and chunks of all answers; their spelling counts as right."""
    blends: Blends
    """Detects answers that mix two taught ones."""
    comfort: dict[str, frozenset[str]]
    """Folded answer for somebody in need -> the folded questions for which it was written."""
    questions: dict[str, frozenset[str]] = field(default_factory=dict)
    """Folded answer -> the questions for which it was taught."""
    latest: dict[str, str] = field(default_factory=dict)
    """Folded question -> the folded answer that was taught last, and not rejected since."""
    waiting: frozenset[str] = frozenset()
    """Folded questions whose newest lesson waits to be learned."""
    pairs: tuple[tuple[frozenset[str], str, str], ...] = ()
    """(`fixed_words` of a question, the question, its answer) of all."""
    owners: tuple[tuple[str, str], ...] = ()
    """(question, answer) where the answer calls a relation, an animal or the like the owner's."""

    @classmethod
    def of(cls, entries: Sequence[BookEntry], lessons: Iterable[Lesson]) -> Known:
        pairs = [
            (entry.turns[i][1], entry.turns[i + 1][1])
            for entry in entries
            for i in range(0, len(entry.turns), 2)
        ]
        lessons = as_changed([x for x in lessons if x.prompt])
        answered = [x for x in lessons if x.answer]
        pairs = _without_rejected(_changed(pairs, lessons), lessons)
        states = {fold(x.prompt[-1].text): x.state for x in answered}
        need = [(fold(e.answer), fold(e.question)) for e in entries if e.heading.startswith(NEED)]
        texts = [answer for _, answer in pairs]
        folded = [(fold(question), fold(answer)) for question, answer in pairs]
        asked = zip(pairs, folded, strict=True)
        return cls(
            _grouped(folded),
            chunks(texts),
            Blends(texts),
            _grouped(need),
            _grouped((answer, question) for (question, _), (_, answer) in asked),
            dict(folded),
            frozenset(question for question, state in states.items() if state == "waiting"),
            tuple((fixed_words(question), question, answer) for question, answer in pairs),
            tuple((question, answer) for question, answer in pairs if owned(answer)),
        )

    def of_others(self, message: str, talk: Sequence[str] = ()) -> list[frozenset[str]]:
        """The facts that were taught for questions which `asks_another` tells from the message. A fact is the
        set of the content words that an answer has and its question has not. Left out are answers of yes and
        no, and facts that a lesson, the book or `talk` states about what the message asks for."""
        said, found = asked_words(message), list[frozenset[str]]()
        for fixed, question, answer in self.pairs:
            if not fixed <= said or not asks_another(message, question, answer):
                continue
            about = content_words(message) - content_words(question)
            fact = _fact(question, answer)
            if fact and not _tells(self._texts(talk), about, fact):
                found.append(fact)
        return found

    def of_another(self, text: str, talk: Sequence[str] = ()) -> bool:
        """Whether a text says of one relation, animal or the like of the owner what was taught of another one
        ("Your cat is called Clover.", where that is the rabbit's name), and neither a lesson, the book nor
        `talk` says it of this one too."""
        if not owned(text):
            return False
        said = content_words(text)
        for question, answer in self.owners:
            if words := put_in_place(text, question, answer):
                about = content_words(" ".join(words))
                fact = _fact(question, answer)
                if fact and fact <= said and not _tells(self._texts(talk), about, fact):
                    return True
        return False

    def fits_all(self, text: str) -> bool:
        """Whether a text may answer every message: comfort and not knowing."""
        folded = fold(text)
        return folded in (NOT_KNOWN_FOLD, CRISIS_FOLD) or folded in self.comfort

    def of_other_form(self, message: str, text: str) -> bool:
        """Whether a text is a taught answer that does not fit the message, whichever of its questions it was
        taught for."""
        questions = self.questions.get(fold(text), frozenset())
        return bool(questions) and not any(fits(message, asked, text) for asked in questions)

    def of_same_kind(self, message: str, text: str) -> bool:
        """Whether a text is what was taught for a question that asks for the same thing in other words."""
        return any(asks_the_same(message, asked) for asked in self.questions.get(fold(text), ()))

    def of_other_kind(
        self, message: str, text: str, near: Mapping[str, float], said: Sequence[str] = ()
    ) -> bool:
        """Whether a text tells a fact (see `of_others`) that was taught for questions which ask for something
        else than the message (`asks_for_another`), and for no other question. Not if a lesson or the book
        states the fact about what the message asks for, or if the owner states it in `said`.

        near: {folded answer: cosine, -1 to 1, of the message and the nearest lesson of that answer}, of the
        lessons that count. Of these, one that is FAR_OF_KIND or nearer is never told apart, nor is a
        question for a yes or no.
        """
        if not near or asks_yes_or_no(message):
            return False
        if not all(
            asks_for_another(message, asked) for asked in self.questions.get(fold(text), ())
        ):
            return False
        told = [one for one in self._told(text) if one[2] in near]
        about = content_words(message)
        for fact, question, answer in told:
            if near[answer] >= FAR_OF_KIND or asks_yes_or_no(question):
                return False
            if not asks_for_another(message, question):
                return False
            if any(fact <= content_words(one) for one in said):
                return False
            if _tells(self._texts(), about - content_words(question), fact):
                return False
        return bool(told)

    def _told(self, text: str) -> Iterator[tuple[frozenset[str], str, str]]:
        """(fact, question, folded answer) of all facts that a text tells: it has their words, and says
        something of the owner, or is the taught answer and names what the question is about."""
        folded, words = fold(text), content_words(text)
        of_owner = bool(OF_OWNER.search(text))
        for place in chain.from_iterable(self._by_fact.get(word, ()) for word in words):
            _, question, taught = self.pairs[place]
            fact = _fact(question, taught)
            if fact <= words and (
                of_owner or (fold(taught) == folded and words & content_words(question))
            ):
                yield fact, question, fold(taught)

    @cached_property
    def _by_fact(self) -> dict[str, list[int]]:
        """Longest word of a fact -> the places in `pairs` of all such facts."""
        found: dict[str, list[int]] = {}
        for place, (_, question, answer) in enumerate(self.pairs):
            if fact := _fact(question, answer):
                found.setdefault(max(fact, key=len), []).append(place)
        return found

    def _texts(self, talk: Iterable[str] = ()) -> Iterable[str]:
        """What `talk`, the lessons and the book say, in small letters."""
        return chain(map(str.casefold, talk), self._stated)

    @cached_property
    def _stated(self) -> list[str]:
        return [f"{question} {answer}".casefold() for _, question, answer in self.pairs]


def _changed(lines: Sequence[tuple[str, str]], lessons: Iterable[Lesson]) -> list[tuple[str, str]]:
    """The (question, answer) of books, with the answer of a lesson that changes it in other words
    (learning.text.kinds.one_answer)."""
    taught = [(x.prompt[-1].text, x.answer) for x in lessons if x.answer and asked_alone(x)]
    pairs = [*lines, *taught]
    changed = changed_by(pairs, len(lines))
    return [(line[0], pairs[changed.get(at, at)][1]) for at, line in enumerate(lines)]


def _without_rejected(
    pairs: Iterable[tuple[str, str]], lessons: Iterable[Lesson]
) -> list[tuple[str, str]]:
    """The pairs, then the lessons' (question, answer), without answers that a later lesson only rejects."""
    kept = dict(enumerate(pairs))
    places: dict[tuple[str, str], list[int]] = {}
    for place, (question, answer) in kept.items():
        places.setdefault((fold(question), fold(answer)), []).append(place)
    count = len(kept)
    for lesson in lessons:
        question = lesson.prompt[-1].text
        if lesson.answer:
            kept[count] = question, lesson.answer
            places.setdefault((fold(question), fold(lesson.answer)), []).append(count)
            count += 1
            continue
        for text in lesson.rejected:
            for place in places.pop((fold(question), fold(text)), ()):
                del kept[place]
    return list(kept.values())


@lru_cache(maxsize=1 << 15)
def _fact(question: str, answer: str) -> frozenset[str]:
    """The content words that an answer has and its question has not; empty if it only says yes or no."""
    fact = content_words(answer) - content_words(question)
    return fact if fact - _YES_OR_NO else frozenset()


def _tells(texts: Iterable[str], about: frozenset[str], fact: frozenset[str]) -> bool:
    """Whether one of the texts contains all words of `fact` and at least one word of `about`. The texts are
    in small letters."""
    longest = max(fact, key=len)
    for text in texts:
        if longest not in text:
            continue
        quick = all(word in text for word in fact) and any(word in text for word in about)
        if quick:  # few texts are read whole
            words = content_words(text)
            if fact <= words and about & words:
                return True
    return False


_YES_OR_NO = content_words("yes no")


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """First item -> all second items that occur with it."""
    found: dict[str, set[str]] = {}
    for first, second in pairs:
        found.setdefault(first, set()).add(second)
    return {first: frozenset(seconds) for first, seconds in found.items()}


class KnownTexts:
    """Caches `Known` and rebuilds it when the owner's book or the lessons change."""

    def __init__(
        self, journal: Journal, owner_book: Path, books: ParsedBooks | None = None
    ) -> None:
        """books: what the learner parsed already."""
        self._journal, self._book = journal, owner_book
        self._books = books or ParsedBooks()
        self._mark: object = None
        self._known = Known.of((), ())

    def now(self) -> Known:
        """The current `Known`. Ignores unreadable lines of the owner's book. Raises JournalError."""
        mark = (mark_of(self._book), self._journal.lessons_mark())
        if mark != self._mark:
            entries = [*self._books.entries(shipped_book_path()), *self._own()]
            self._known, self._mark = Known.of(entries, self._journal.standing()), mark
        return self._known

    def _own(self) -> list[BookEntry]:
        """Entries of the owner's book, without the headings of the shipped one."""
        try:
            return [replace(e, heading="") for e in self._books.entries(self._book, skip_bad=True)]
        except BookError:
            return []
