"""Finds the rows of the journal to erase, with all rows that quote them.

Left out: erasing them (erase.py), and what stays of later asks (later_asks.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine.errors import JournalError, NotFound
from learning.journal.database import Store, chosen
from learning.journal.erasing.later_asks import (
    Erased,
    LaterAsks,
    ShortenedAsk,
    sort_later,
)
from learning.journal.erasing.said_back import cards_that_say_back
from learning.journal.erasing.talks import PastAsk, Path, Talks
from learning.journal.lessons import MAIN_KINDS
from learning.journal.rows import LESSON_COLUMNS, lesson_from_row
from learning.protocol.records import Lesson, Turns
from learning.text.content import content_words
from learning.text.normalise import fold_spaces

TELLING = 8
"""Fewest characters of a text that can be searched for alone: a word like "yes" occurs in many files."""
_NOT_TELLING = content_words("yes no")


@dataclass(frozen=True)
class ErasurePlan:
    """The ids of the rows to erase."""

    asks: tuple[int, ...]
    """Asks to delete, with their candidates, judgements, answers and lessons."""
    lessons: tuple[int, ...]
    """All lessons to delete, including those of the asks."""
    judgements: tuple[int, ...] = ()
    """Judgements to delete whose asks stay."""
    titles: tuple[int, ...] = ()
    """Conversations that stay and lose their title."""
    practices: tuple[int, ...] = ()
    """Runs of practice to delete, with the answers that were kept of them."""
    candidates: tuple[int, ...] = ()
    """Candidates to delete whose asks stay."""
    answers: tuple[int, ...] = ()
    """Unjudged answers to delete whose asks stay."""
    shortened: tuple[ShortenedAsk, ...] = ()
    """Asks that stay without what is erased before them."""
    changed: tuple[Lesson, ...] = ()
    """Lessons that stay without what is erased, as they are to be."""

    @property
    def relearned(self) -> tuple[int, ...]:
        """Lessons that stay and change, so that they are to be learned again."""
        return tuple(lesson.id for lesson in self.changed)

    @property
    def shortened_lessons(self) -> int:
        """How many of them the owner taught."""
        return sum(lesson.kind in MAIN_KINDS for lesson in self.changed)

    @property
    def quoting(self) -> frozenset[int]:
        """Ids of the lessons that contain the erased text: they are erased, or the text is removed from
        them. Weights that were trained on such a lesson may know the text."""
        return frozenset((*self.lessons, *self.relearned))


def plan_erasure(
    store: Store,
    *,
    conversation: int | None = None,
    ask: int | None = None,
    lesson: int | None = None,
    text: str | None = None,
    all: bool = False,
) -> ErasurePlan:
    """The rows to erase for one of the arguments, with all rows that quote them.

    conversation: everything in it.
    ask: the ask, and all later asks that have it in their history.
    conversation, ask: also the cards of other asks that say back what the owner told there, the lessons of
    these cards, and their texts in the history of later asks.
    lesson: the lesson and its judgement; asks that the owner sent again with the reason of this judgement;
    candidates with the lesson's answer. If such a candidate was an offer, the unjudged answer and the weak
    lesson that came from it are erased too. A candidate that another judgement is about stays.
    text: every ask, lesson and title that contains the text, ignoring case and kinds of white space, and
    the cards that say back what such an ask told, as above. A lesson that only rejects or replaces the text
    stays, and the text is removed from it.
    lesson, text: later asks with a taught answer stay, and what is erased is removed from their history
    (later_asks.py).
    all: everything.
    Raises NotFound if nothing matches, and JournalError unless exactly one argument is given.
    """
    given = [conversation is not None, ask is not None, lesson is not None, text is not None, all]
    wanted = fold_spaces(text or "")
    if sum(given) != 1 or (text is not None and not wanted):
        raise JournalError(
            "forget: name one thing", "a conversation, an ask, a lesson, a text, or all"
        )
    plan = _Plan(store)
    if all:
        plan.practices = _numbers(store, "SELECT id FROM practices")
        plan.asks = _numbers(store, "SELECT id FROM asks")
        plan.lessons = _numbers(store, "SELECT id FROM lessons")
    elif conversation is not None:
        _must_exist(store, "conversation", conversation)
        plan.asks = _numbers(store, "SELECT id FROM asks WHERE conversation = ?", conversation)
        plan.add_said_back()
    elif ask is not None:
        _must_exist(store, "ask", ask)
        plan.asks = _after(store, ask)
        plan.add_said_back()
    elif lesson is not None:
        _must_exist(store, "lesson", lesson)
        plan.add_lesson(lesson)
    else:
        plan.add_text(wanted)
        if not plan.found:
            raise NotFound("forget: the text is nowhere in the journal", "check it with a search")
    return plan.whole()


class _Plan:
    """The rows that were found so far."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asks: set[int] = set()
        self.lessons: set[int] = set()
        self.judgements: set[int] = set()
        self.titles: set[int] = set()
        self.practices: set[int] = set()
        self.candidates: set[int] = set()
        self.answers: set[int] = set()
        self._later = LaterAsks()
        self._changed: list[Lesson] = []

    @property
    def found(self) -> bool:
        """Whether anything was found."""
        later = self._later
        rows = (self.asks, self.lessons, self.titles, self.practices, later.kept, self._changed)
        return any(rows)

    def add_lesson(self, lesson: int) -> None:
        """The lesson, its judgement, and what copies or quotes its answer."""
        store = self._store
        self.lessons = {lesson}
        row = store.row("SELECT ask, judgement, answer FROM lessons WHERE id = ?", lesson)
        own, judgement, answer = row or (None, None, "")
        if judgement is not None:
            self.judgements = {judgement}
            self.lessons |= _numbers(store, "SELECT id FROM lessons WHERE judgement = ?", judgement)
            self.asks |= _numbers(store, _ASKED_AGAIN, judgement)
        if not answer:
            return
        copied = (answer.strip(), judgement, own)
        self.candidates = _numbers(store, _CANDIDATES, *copied[:2])
        self.answers = _numbers(store, _ANSWERS, *copied)
        self.lessons |= _numbers(store, _WEAK, *copied)
        offers = chosen(store, "candidates", "ask", self.candidates, "offered")
        gave = {int(number) for (number,) in offers} | ({own} if own is not None else set())
        talks = Talks(store, _conversations_of(store, gave))
        paths = {talks.own_path(talks.asks[ask]) for ask in gave}
        told = content_words(answer) - _NOT_TELLING
        folded, telling = fold_spaces(answer), len(fold_spaces(answer)) >= TELLING

        def given_at(path: Path) -> bool:
            """Whether the answer, where it stands, is this one; a short one is given to many messages."""
            return path in paths or (telling and talks.follows(path, paths))

        def quoted_by(path: Path, exchange: Turns) -> bool:
            return any(turn == ("assistant", answer) for turn in exchange) and given_at(path)

        def contained_in(text: str) -> bool:
            whole = telling and folded in fold_spaces(text)
            return whole or bool(told) and told <= content_words(text)

        def quotes(ask: PastAsk) -> bool:
            again = ask.old == answer and given_at(talks.own_path(ask))
            return again or any(quoted_by(*one) for one in talks.exchanges(ask))

        quote = {ask.id for ask in talks.asks.values() if quotes(ask)}
        self._sort(talks, quote, quoted_by, contained_in)

    def add_text(self, wanted: str) -> None:
        """Whatever contains the text. wanted: folded (fold_spaces)."""
        store = self._store
        self.practices = _numbers(
            store,
            """SELECT practice FROM practice_samples WHERE contains(problem, ?1) OR contains(text, ?1)
            UNION SELECT id FROM practices WHERE contains(record, ?1) OR contains(outcome, ?1)""",
            wanted,
        )
        self.titles = _numbers(
            store, "SELECT id FROM conversations WHERE contains(title, ?)", wanted
        )
        self.asks = _numbers(store, "SELECT id FROM asks WHERE contains(message, ?)", wanted)
        self._add_containing(wanted)

    def add_said_back(self) -> None:
        """Adds the cards that say back what the owner told in the asks of the plan, and all rows of their
        conversations that contain the text of such a card."""
        self._add_containing(None)

    def _add_containing(self, wanted: str | None) -> None:
        """Adds all rows that contain a text, and what `add_said_back` says. wanted: the text, folded; None:
        there is none."""
        store, cards = self._store, cards_that_say_back(self._store, self.asks)
        if wanted is None and not cards:
            return
        said = {fold_spaces(text) for _, _, text in cards}
        self.candidates |= {number for number, *_ in cards}
        near = _conversations_of(store, {ask for _, ask, _ in cards})
        everywhere = wanted is not None
        talks = Talks(store, None if everywhere else near | _conversations_of(store, self.asks))

        def has_wanted(text: str) -> bool:
            return wanted is not None and wanted in fold_spaces(text)

        @cache
        def contained_in(text: str) -> bool:
            return has_wanted(text) or any(one in fold_spaces(text) for one in said)

        def quoted_by(_: Path, exchange: Turns) -> bool:
            return any(contained_in(turn.text) for turn in exchange)

        def holds(ask: PastAsk) -> bool:
            found_in = contained_in if ask.conversation in near else has_wanted
            return any(found_in(turn.text) for turn in ask.history)

        inside = {ask.id for ask in talks.asks.values() if ask.conversation in near}
        quote = {ask.id for ask in talks.asks.values() if holds(ask)}
        for one in said:
            quote |= inside & _numbers(store, _CONTAINING, one)
        if wanted is not None:
            quote |= _numbers(store, f"{_CONTAINING} UNION {_IN_CANDIDATES}", wanted)
        erased = self._sort(talks, quote - self.asks, quoted_by, contained_in)
        lessons = _numbers(store, _LESSONS_OF, json.dumps([*inside]))
        self._sort_lessons(erased, replace(erased, contained_in=has_wanted), lessons)

    def _sort_lessons(self, near: Erased, far: Erased, inside: Collection[int]) -> None:
        """Adds the lessons whose prompt or answer contains an erased text; a lesson that only rejects such a
        text stays without it. near: the texts that are erased from the lessons with the ids `inside`. far:
        the texts that are erased from all other lessons."""
        changed = {lesson.id: lesson for lesson in self._changed}
        for row in self._store.rows(f"SELECT {LESSON_COLUMNS} FROM lessons"):
            old = lesson_from_row(row)
            lesson = changed.get(old.id, old)
            erased = near if old.id in inside else far
            new = replace(
                lesson,
                rejected=tuple(text for text in lesson.rejected if not erased.is_in(text)),
                replaces=None if erased.is_in(lesson.replaces) else lesson.replaces,
            )
            texts = [*(turn.text for turn in new.prompt), new.answer]
            teaches = bool(new.answer) and new.kind in MAIN_KINDS
            if erased.is_in(*texts) or (new != lesson and not teaches):
                self.lessons.add(new.id)
            elif new != lesson:
                self._changed.append(new)

    def _sort(
        self,
        talks: Talks,
        asks: set[int],
        quoted_by: Callable[[Path, Turns], bool],
        contained_in: Callable[[str], bool],
    ) -> Erased:
        """Sorts the asks that quote the erased text: some are erased, and the text is removed from the
        others. Returns what is erased."""
        erased = Erased(quoted_by, contained_in, frozenset(self.asks), frozenset(self.lessons))
        self._later = later = sort_later(self._store, talks, asks - self.asks, erased)
        self.asks |= later.asks
        self.lessons |= later.lessons
        self.judgements |= later.judgements
        self.candidates |= later.candidates
        self.answers |= later.answers
        self._changed = list(later.changed)
        return erased

    def whole(self) -> ErasurePlan:
        """The plan, with what belongs to the asks that are erased."""
        for number in self.asks:
            self.lessons |= _numbers(self._store, "SELECT id FROM lessons WHERE ask = ?", number)
            self.practices |= _numbers(self._store, _PRACTISED, number)
        self.lessons |= _carried_over(self._store, self.asks)
        return ErasurePlan(
            asks=tuple(sorted(self.asks)),
            lessons=tuple(sorted(self.lessons)),
            judgements=tuple(sorted(self.judgements)),
            titles=tuple(sorted(self.titles)),
            practices=tuple(sorted(self.practices)),
            candidates=tuple(sorted(self.candidates)),
            answers=tuple(sorted(self.answers)),
            shortened=tuple(self._later.shortened),
            changed=tuple(one for one in self._changed if one.id not in self.lessons),
        )


_PRACTISED = """SELECT practice FROM practice_samples
    WHERE problem = (SELECT stripped(message) FROM asks WHERE id = ?)"""
"""Runs that practised on the message of an ask, as `taste` does."""


_ASKED_AGAIN = """SELECT a.id FROM judgements j JOIN asks b ON b.id = j.ask
    JOIN asks a ON a.conversation = b.conversation AND a.reason = j.reason AND a.old = j.answer
    WHERE j.id = ? AND j.kind = 'rating'"""
"""Asks that were asked again for the reason of a rating."""
_UNJUDGED = """NOT EXISTS (SELECT 1 FROM judgements AS other WHERE other.ask = copy.ask AND other.id IS NOT ?2
    AND (stripped(other.answer) = ?1 OR other.kind = 'pick' AND other.number = copy.number))"""
_OFFERED = (
    """(ask IS ?3 OR ask IN (SELECT ask FROM candidates WHERE offered AND stripped(text) = ?1))"""
)
"""The lesson's own ask ?3, and asks with an offer. Elsewhere the model may have said the same text by itself:
"Yes." is the answer to many questions."""
_CANDIDATES, _ANSWERS, _WEAK = (
    f"WITH copy AS ({copies}) SELECT id FROM copy WHERE stripped(text) = ?1 AND {_UNJUDGED}"
    for copies in (
        "SELECT id, ask, number, text FROM candidates",
        f"SELECT id, ask, NULL AS number, text FROM answers WHERE judgement IS NULL AND {_OFFERED}",
        "SELECT id, ask, NULL AS number, answer AS text FROM lessons WHERE kind = 'continuation'"
        f" AND {_OFFERED}",
    )
)
"""Candidates, answers that were left standing and their weak lessons, with the text ?1. Without those that a
judgement is about, other than ?2: they are lessons of their own."""


def _after(store: Store, ask: int) -> set[int]:
    """An ask and all that have its message in their history. Answers in between may have been corrected
    since, so only the owner's words are compared."""
    talks = Talks(store, _conversations_of(store, {ask}))
    mine = {talks.own_path(talks.asks[ask])}
    return {one.id for one in talks.asks.values() if talks.follows(talks.own_path(one), mine)}


def _conversations_of(store: Store, asks: Collection[int]) -> set[int]:
    """The conversations of some asks."""
    return {int(number) for (number,) in chosen(store, "asks", "DISTINCT conversation", asks)}


def _carried_over(store: Store, asks: set[int]) -> set[int]:
    """Lessons that pauses made from a reason: they are stored under the ask that was rated, but teach another
    ask's message. Those whose message only these asks have."""
    rows = store.rows(
        """SELECT l.id, json_extract(l.prompt, '$[#-1][1]') AS said FROM lessons l
        JOIN asks a ON a.id = l.ask WHERE l.kind != 'owner_words' AND said IS NOT a.message"""
    )
    if not rows or not asks:
        return set()
    said: dict[str, set[int]] = {}
    for number, message in store.rows("SELECT id, message FROM asks"):
        said.setdefault(message, set()).add(number)
    only = {message for message, numbers in said.items() if numbers <= asks}
    return {number for number, message in rows if message in only}


_LESSONS_OF = "SELECT id FROM lessons WHERE ask IN (SELECT value FROM json_each(?))"
_IN_CANDIDATES = "SELECT ask FROM candidates WHERE contains(text, ?1)"
_CONTAINING = """SELECT ask FROM answers WHERE contains(text, ?1)
    UNION SELECT ask FROM judgements
        WHERE contains(text, ?1) OR contains(answer, ?1) OR contains(reason, ?1)
    UNION SELECT id FROM asks WHERE contains(old, ?1) OR contains(reason, ?1)"""
"""Asks that contain the text elsewhere than in candidates, message and history: JSON escapes quotes and
newlines, so histories are compared after parsing."""


_LISTED = {
    "lesson": "`vidya journal show` lists them",
    "ask": "`vidya journal show --asks` lists them",
    "conversation": "`vidya journal search WORDS` names the conversations it finds",
}


def _must_exist(store: Store, name: str, number: int) -> None:
    if store.row(f"SELECT 1 FROM {name}s WHERE id = ?", number) is None:
        raise NotFound(f"{name} {number} is not in the journal", _LISTED[name])


def _numbers(store: Store, sql: str, *values: Any) -> set[int]:
    return {int(row[0]) for row in store.rows(sql, *values)}
