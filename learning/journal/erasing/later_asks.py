"""Decides what stays of the asks that have what is erased in their history.

An ask that was taught an answer stays with its lessons, and its history loses what is erased. The model
answered it with the erased text before it, so of what the model wrote there only the taught answers stay.
Other asks are erased, and so is an ask that makes no sense without an erased exchange right before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import compress

from learning.journal.database import Row, Store
from learning.journal.erasing.talks import PastAsk, Path, Talks
from learning.journal.lessons import MAIN_KINDS
from learning.journal.rows import LESSON_COLUMNS, lesson_from_row
from learning.journal.standing import of_kinds, stands
from learning.protocol.records import Lesson, Turn, Turns
from learning.text.questions.asking import stands_alone


@dataclass(frozen=True)
class Erased:
    """What is erased, as it may stand in other rows."""

    quoted_by: Callable[[Path, Turns], bool]
    """Whether an exchange of a history is erased. It is given as the path of its message, and as its turns:
    the message and its answer."""
    contained_in: Callable[[str], bool]
    """Whether a text contains what is erased."""
    asks: Collection[int] = ()
    """Asks that are erased in any case, and lessons:"""
    lessons: Collection[int] = ()

    def is_in(self, *texts: str | None) -> bool:
        """Whether one of the texts contains what is erased."""
        return any(text is not None and self.contained_in(text) for text in texts)


@dataclass(frozen=True)
class ShortenedAsk:
    """An ask that stays, as it is to be."""

    ask: int
    history: Turns
    parent: int | None
    again: bool
    """False: why it was asked again, and which answer it had before, are erased."""


@dataclass
class LaterAsks:
    """What is erased of the asks, and what stays otherwise than it was."""

    asks: set[int] = field(default_factory=set)
    shortened: list[ShortenedAsk] = field(default_factory=list)
    lessons: set[int] = field(default_factory=set)
    """Erased, of asks that stay; likewise judgements, candidates and answers."""
    judgements: set[int] = field(default_factory=set)
    candidates: set[int] = field(default_factory=set)
    answers: set[int] = field(default_factory=set)
    changed: list[Lesson] = field(default_factory=list)
    """Lessons that stay, as they are to be."""
    kept: set[int] = field(default_factory=set)
    """Asks that were sorted, and stay."""


def sort_later(store: Store, talks: Talks, asks: Collection[int], erased: Erased) -> LaterAsks:
    """Sorts asks that have what is erased in their history, or in a text of the model. talks: at least all
    asks of their conversations."""
    sorter = _Sorter(store, talks, erased)
    concerned = {talks.asks[number].conversation for number in (*asks, *erased.asks)}
    rest = [one for one in talks.asks.values() if one.conversation in concerned]
    for ask in rest:  # an earlier ask is in the history of later ones
        if ask.id in asks:
            sorter.sort(ask)
        elif ask.id not in erased.asks:
            sorter.leave(ask)
    sorter.join(rest)
    return sorter.found


class _Sorter:
    def __init__(self, store: Store, talks: Talks, erased: Erased) -> None:
        self.found = LaterAsks()
        self._store, self._talks, self._erased = store, talks, erased
        self._histories: dict[int, Turns] = {}
        """History of each ask that stays, as it is to be."""
        self._taught: dict[Path, set[str]] = {}
        """Path of an ask that stays -> the answers that it was taught."""
        self._not_again: set[int] = set()
        """Asks that stay, and lose why they were asked again."""
        sql = f"SELECT id FROM lessons WHERE {of_kinds(MAIN_KINDS)} AND {stands()}"
        self._standing = {number for (number,) in store.rows(sql)}

    def leave(self, ask: PastAsk) -> None:
        """An ask that stays as it is."""
        self._histories[ask.id] = ask.history
        self._taught_answers(ask, self._taught_by(self._lessons(ask.id), set()))

    def sort(self, ask: PastAsk) -> None:
        """Keeps or erases an ask."""
        stays, quotes = self._staying(ask)
        alone = not stays or stays[-1] or stands_alone(ask.message)
        lessons, judgements = self._lessons(ask.id), self._judgements(ask.id)
        judged = {number for number, *texts in judgements if self._erased.is_in(*texts)}
        taught = self._taught_by(lessons, judged)
        if not taught or not alone or self._erased.is_in(ask.message):
            self.found.asks.add(ask.id)
            return
        answers = self._taught_answers(ask, taught)

        def goes(text: str | None) -> bool:
            """Whether a text that the model wrote is erased."""
            return (
                text is not None
                and text.strip() not in answers
                and (quotes or self._erased.is_in(text))
            )

        of_taught = {lesson.judgement for lesson in taught}
        self.found.judgements |= {
            number
            for number, *_ in judgements
            if number not in of_taught and (quotes or number in judged)
        }
        kept, bereft = {lesson.id for lesson in taught}, set[int | None]()
        for lesson in lessons:
            if lesson.id not in kept and self._goes_with(lesson, quotes):
                self.found.lessons.add(lesson.id)
                bereft.add(lesson.judgement)
            elif lesson.kind != "reason":
                self._change(lesson, ask, [*stays, True], goes)
        left = {lesson.judgement for lesson in lessons if lesson.id not in self.found.lessons}
        # without any lesson it would be taken for one whose lessons are still to be made
        self.found.judgements |= {number for number in bereft - left if number is not None}
        self._erase_parts(ask.id, goes)
        self.found.kept.add(ask.id)
        self._histories[ask.id] = tuple(compress(ask.history, stays))
        if goes(ask.old) or self._erased.is_in(ask.reason):
            self._not_again.add(ask.id)

    def join(self, asks: Collection[PastAsk]) -> None:
        """Finds the parents of the asks that stay."""
        for ask in asks:
            if (left := self._histories.get(ask.id)) is None:
                continue
            parent, again = ask.parent, ask.id not in self._not_again
            before = self._histories.get(parent) if parent is not None else None
            if left != ask.history or before is None or len(before) + 2 != len(left):
                parent = self._parent(ask, left)
            if left != ask.history or parent != ask.parent or not again:
                self.found.shortened.append(ShortenedAsk(ask.id, left, parent, again))

    def _staying(self, ask: PastAsk) -> tuple[list[bool], bool]:
        """(for each turn of a history whether it stays, whether an exchange of it is erased). From the first
        erased exchange on only taught ones stay."""
        stays: list[bool] = []
        quotes = False
        for path, exchange in self._talks.exchanges(ask):
            quotes = quotes or self._erased.quoted_by(path, exchange)
            one = not quotes
            if quotes and (answers := self._taught.get(path)):
                said = [turn.text.strip() for turn in exchange if turn.role == "assistant"]
                one = bool(said) and answers.issuperset(said)
            stays += [one] * len(exchange)
        return stays, quotes

    def _taught_by(self, lessons: list[Lesson], judged: Collection[int]) -> list[Lesson]:
        """The lessons that teach an answer and stay. judged: ids of the judgements that contain the erased
        text; their lessons do not stay."""
        return [
            lesson
            for lesson in lessons
            if lesson.id in self._standing
            and lesson.answer
            and lesson.judgement not in judged
            and not self._erased.is_in(lesson.answer, *(turn.text for turn in lesson.prompt[-1:]))
        ]

    def _taught_answers(self, ask: PastAsk, taught: list[Lesson]) -> set[str]:
        """The taught answers to the ask's message, which are noted; some lessons of an ask are about another
        message (learning.lessons.reasons)."""
        answers = {
            lesson.answer.strip()
            for lesson in taught
            if [turn.text for turn in lesson.prompt[-1:]] == [ask.message]
        }
        if answers:
            self._taught.setdefault(self._talks.own_path(ask), set()).update(answers)
        return answers

    def _goes_with(self, lesson: Lesson, quotes: bool) -> bool:
        """Whether a lesson that teaches no answer is erased."""
        texts = [lesson.answer, lesson.replaces, *lesson.rejected]
        if lesson.kind != "owner_words":
            whole = lesson.kind == "reason"
            texts += [turn.text for turn in (lesson.prompt if whole else lesson.prompt[-1:])]
        # the owner's own words, and answers to other messages: the erased text was not before them
        other = lesson.kind in ("owner_words", "reason")
        return (
            lesson.judgement in self.found.judgements
            or (quotes and not other)
            or self._erased.is_in(*texts)
        )

    def _change(
        self, lesson: Lesson, ask: PastAsk, stays: list[bool], goes: Callable[[str | None], bool]
    ) -> None:
        """Notes what changes in a lesson that stays. stays: for each turn, that of the message included."""
        turns = (*ask.history, Turn("user", ask.message))
        end = len(turns) - (lesson.kind == "owner_words")
        begin = end - len(lesson.prompt)  # a lesson has the last turns of a long history
        prompt = lesson.prompt
        if begin >= 0 and prompt == turns[begin:end]:
            prompt = tuple(compress(prompt, stays[begin:end]))
        elif not all(stays) or self._erased.is_in(*(turn.text for turn in prompt)):
            # another history than the ask's: nothing tells which of its exchanges are erased
            prompt = () if lesson.kind == "owner_words" else prompt[-1:]
        new = replace(
            lesson,
            prompt=prompt,
            rejected=tuple(text for text in lesson.rejected if not goes(text)),
            replaces=None if goes(lesson.replaces) else lesson.replaces,
        )
        if new != lesson:
            self.found.changed.append(new)

    def _erase_parts(self, ask: int, goes: Callable[[str | None], bool]) -> None:
        """Erases candidates and answers that the owner did not choose, of an ask that stays."""
        for table, found in (
            ("candidates", self.found.candidates),
            ("answers", self.found.answers),
        ):
            own = "1" if table == "candidates" else "judgement IS NULL"
            rows = self._store.rows(f"SELECT id, text FROM {table} WHERE ask = ? AND {own}", ask)
            found.update(number for number, text in rows if goes(text))

    def _parent(self, ask: PastAsk, left: Turns) -> int | None:
        """The nearest ask before one that stays, and whose message is the last of this history."""
        path = self._talks.path(ask.conversation, left)
        parent = ask.parent
        while parent is not None and (one := self._talks.asks.get(parent)):
            before = self._histories.get(parent)
            if before is not None and len(before) + 2 == len(left):
                said = (*before, Turn("user", one.message))
                if self._talks.path(ask.conversation, said) == path:
                    return parent
            parent = one.parent
        return None

    def _lessons(self, ask: int) -> list[Lesson]:
        """All lessons of an ask but those that are erased in any case."""
        sql = f"SELECT {LESSON_COLUMNS} FROM lessons WHERE ask = ? ORDER BY id"
        found = map(lesson_from_row, self._store.rows(sql, ask))
        return [lesson for lesson in found if lesson.id not in self._erased.lessons]

    def _judgements(self, ask: int) -> list[Row]:
        """(id, texts) of all judgements of an ask; of one with several answers several rows."""
        return self._store.rows(
            """SELECT j.id, j.text, j.answer, j.reason, a.text FROM judgements j
            LEFT JOIN answers a ON a.judgement = j.id WHERE j.ask = ?""",
            ask,
        )
