"""Decides what stays of the asks that have what is erased in their history.

An ask that was taught an answer stays with its lessons, and its history loses what is erased. The model
answered it with the erased text before it, so of what the model wrote there only the taught answers stay.
Other asks are erased, and so is an ask that makes no sense without an erased exchange right before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import compress

from learning.journal.database import Row, Store
from learning.journal.lessons import MAIN_KINDS
from learning.journal.rows import LESSON_COLUMNS, lesson_from_row, turns_from_json
from learning.journal.standing import of_kinds, stands
from learning.protocol.records import Lesson, Turn, Turns
from learning.text.asking import stands_alone

Words = tuple[str, ...]
"""The owner's messages of a conversation up to one of them. They say which message an exchange of a history
belongs to; its answer may have been corrected since."""


@dataclass(frozen=True)
class Erased:
    """What is erased, as it may stand in other rows."""

    quoted_by: Callable[[Words, Turns], bool]
    """Whether an exchange of a history is erased. It is given as the owner's messages up to it, and as its
    turns: a message and its answer."""
    contained_in: Callable[[str], bool]
    """Whether a text contains what is erased."""
    asks: Collection[int] = ()
    """Asks that are erased in any case, and lessons:"""
    lessons: Collection[int] = ()


@dataclass(frozen=True)
class ShortenedAsk:
    """An ask that stays, as it is to be."""

    ask: int
    history: Turns
    parent: int | None
    again: bool
    """False: why it was asked again, and which answer it had before, are erased."""
    lessons: tuple[Lesson, ...]
    """Those of its lessons that change, as they are to be."""


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
    kept: set[int] = field(default_factory=set)
    """Asks that stay."""


def sort_later(store: Store, asks: Collection[int], erased: Erased) -> LaterAsks:
    """Sorts asks that have what is erased in their history, or in a text of the model."""
    sorter = _Sorter(store, erased)
    for ask in sorted(asks):  # an earlier ask is in the history of later ones
        sorter.sort(ask)
    return sorter.found


class _Sorter:
    def __init__(self, store: Store, erased: Erased) -> None:
        self.found = LaterAsks()
        self._store, self._erased = store, erased
        self._histories: dict[int, Turns] = {}
        """Shortened history of each ask that stays."""
        self._taught: dict[tuple[int, Words], set[str]] = {}
        """Conversation and words of an ask that stays -> the answers that it was taught."""

    def sort(self, ask: int) -> None:
        """Keeps or erases an ask."""
        sql = "SELECT conversation, history, message, old, parent FROM asks WHERE id = ?"
        conversation, history, message, old, parent = self._store.row(sql, ask) or ()
        turns = turns_from_json(history)
        stays, quotes = self._staying(conversation, turns)
        alone = not stays or stays[-1] or stands_alone(message)
        taught = [] if self._erased.contained_in(message) else self._taught_by(ask)
        if not taught or not alone:
            self.found.asks.add(ask)
            return
        answers = {lesson.answer.strip() for lesson in taught}
        self._taught.setdefault((conversation, (*words_of(turns), message)), set()).update(answers)

        def goes(text: str | None) -> bool:
            """Whether a text that the model wrote is erased."""
            return text is not None and text.strip() not in answers and (quotes or self._has(text))

        self._erase_parts(ask, {lesson.id for lesson in taught}, quotes, goes)
        left = self._histories[ask] = tuple(compress(turns, stays))
        self.found.kept.add(ask)
        changed = self._changed(ask, (*turns, Turn("user", message)), [*stays, True], goes)
        again = not goes(old)
        if left != turns or changed or not again:
            parent = parent if left == turns else self._parent(parent, words_of(left))
            self.found.shortened.append(ShortenedAsk(ask, left, parent, again, changed))

    def _staying(self, conversation: int, turns: Turns) -> tuple[list[bool], bool]:
        """(for each turn of a history whether it stays, whether an exchange of it is erased). From the first
        erased exchange on only taught ones stay."""
        stays: list[bool] = []
        quotes, words = False, Words()
        for exchange in _exchanges(turns):
            words += words_of(exchange)
            quotes = quotes or self._erased.quoted_by(words, exchange)
            answers = self._taught.get((conversation, words), set())
            said = [turn.text.strip() for turn in exchange if turn.role == "assistant"]
            stays += [not quotes or bool(said) and answers.issuperset(said)] * len(exchange)
        return stays, quotes

    def _taught_by(self, ask: int) -> list[Lesson]:
        """The lessons of an ask that stay: those in effect that teach an answer, where neither it nor the
        judgement contains what is erased."""
        rows = self._store.rows(
            f"""SELECT {LESSON_COLUMNS} FROM lessons WHERE ask = ? AND answer != ''
            AND {of_kinds(MAIN_KINDS)} AND {stands()} ORDER BY id""",
            ask,
        )
        judged = {number for number, *texts in self._judgements(ask) if self._has(*texts)}
        return [
            lesson
            for lesson in map(lesson_from_row, rows)
            if lesson.id not in self._erased.lessons
            and lesson.judgement not in judged
            and not self._has(lesson.answer)
        ]

    def _erase_parts(
        self, ask: int, taught: set[int], quotes: bool, goes: Callable[[str | None], bool]
    ) -> None:
        """Erases what does not stay of an ask that stays. taught: its lessons that stay."""
        lessons = self._lessons(ask)
        judged = {lesson.judgement for lesson in lessons if lesson.id in taught}
        for number, *texts in self._judgements(ask):
            if number not in judged and (quotes or self._has(*texts)):
                self.found.judgements.add(number)
        for lesson in lessons:
            texts = [lesson.answer, lesson.replaces, *lesson.rejected]
            texts += [turn.text for turn in lesson.prompt if lesson.kind == "reason"]
            # the owner's own words, and answers to other messages: the erased text was not before them
            other = lesson.kind in ("owner_words", "reason")
            if lesson.id not in taught and (
                lesson.judgement in self.found.judgements
                or (quotes and not other)
                or self._has(*texts)
            ):
                self.found.lessons.add(lesson.id)
        for table, found in (
            ("candidates", self.found.candidates),
            ("answers", self.found.answers),
        ):
            own = "1" if table == "candidates" else "judgement IS NULL"
            rows = self._store.rows(f"SELECT id, text FROM {table} WHERE ask = ? AND {own}", ask)
            found.update(number for number, text in rows if goes(text))

    def _changed(
        self, ask: int, turns: Turns, stays: list[bool], goes: Callable[[str | None], bool]
    ) -> tuple[Lesson, ...]:
        """The lessons of an ask that stay and change. turns: with the message; stays: for each of them."""
        found = []
        for lesson in self._lessons(ask):
            if lesson.id in self.found.lessons or lesson.kind == "reason":
                continue
            end = len(turns) - (lesson.kind == "owner_words")
            begin = end - len(lesson.prompt)  # a lesson has the last turns of a long history
            prompt = tuple(compress(turns[begin:end], stays[begin:end]))
            if lesson.prompt != turns[max(0, begin) : end]:  # changed by another program
                prompt = lesson.prompt[-1:] if end == len(turns) else ()
            new = replace(
                lesson,
                prompt=lesson.prompt if all(stays) else prompt,
                rejected=tuple(text for text in lesson.rejected if not goes(text)),
                replaces=None if goes(lesson.replaces) else lesson.replaces,
            )
            if new != lesson:
                found.append(new)
        return tuple(found)

    def _parent(self, ask: int | None, words: Words) -> int | None:
        """The nearest ask before that stays and ends with the last of these messages."""
        while ask is not None:
            sql = "SELECT history, message, parent FROM asks WHERE id = ?"
            history, message, parent = self._store.row(sql, ask) or ("[]", "", None)
            before = self._histories[ask] if ask in self._histories else turns_from_json(history)
            gone = ask in self.found.asks or ask in self._erased.asks
            if not gone and (*words_of(before), message) == words:
                break
            ask = parent
        return ask

    def _lessons(self, ask: int) -> list[Lesson]:
        """All lessons of an ask but those that are erased in any case."""
        sql = f"SELECT {LESSON_COLUMNS} FROM lessons WHERE ask = ? ORDER BY id"
        found = map(lesson_from_row, self._store.rows(sql, ask))
        return [lesson for lesson in found if lesson.id not in self._erased.lessons]

    def _judgements(self, ask: int) -> list[Row]:
        """(id, the texts) of all judgements of an ask."""
        return self._store.rows(
            "SELECT id, text, answer, reason FROM judgements WHERE ask = ?", ask
        )

    def _has(self, *texts: str | None) -> bool:
        return any(text is not None and self._erased.contained_in(text) for text in texts)


def _exchanges(turns: Turns) -> Iterator[Turns]:
    """The turns, divided before each message of the owner."""
    starts = [at for at, turn in enumerate(turns) if turn.role == "user" and at] + [len(turns)]
    begin = 0
    for end in starts:
        yield turns[begin:end]
        begin = end


def words_of(turns: Turns) -> Words:
    """The owner's messages among the turns."""
    return tuple(turn.text for turn in turns if turn.role == "user")
