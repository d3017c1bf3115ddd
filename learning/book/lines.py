"""Writes and removes lines of the owner's book for an exchange. Does not write a line that the books
already have, and does not remove one that another lesson needs.
"""

from __future__ import annotations

from collections.abc import Collection

import personality.book
from learning.book.owner_book import OwnerBook
from learning.journal.journal import Journal
from learning.protocol.records import Ask, Lesson, LessonKind

WRITTEN: tuple[LessonKind, ...] = ("pick", "correction", "example")
"""Kinds of lessons whose answers are written into the owner's book."""


def taught(
    journal: Journal, question: str, answer: str, but: Collection[int] = (), after: int = 0
) -> list[bool]:
    """For each lesson with this question and answer, whether it still stands. Ignores lessons of the
    judgements in `but`, and those up to number `after`."""
    wanted = (question.split(), answer.split())
    standing = {lesson.id for lesson in journal.standing()}
    return [
        lesson.id in standing
        for lesson in journal.lessons(kinds=WRITTEN, after=after)
        if lesson.prompt
        and (lesson.prompt[-1].text.split(), lesson.answer.split()) == wanted
        and (lesson.judgement is None or lesson.judgement not in but)
    ]


def of_exchange(journal: Journal, ask: Ask) -> list[int]:
    """Ids of the judgements of a message, over all its asks (a regenerated ask is the same exchange)."""
    sql = """SELECT j.id FROM judgements j JOIN asks a ON a.id = j.ask
        WHERE a.conversation = ? AND a.parent IS ? AND a.message = ?"""
    return [
        number for (number,) in journal.rows(sql, ask.conversation, ask.parent, ask.turns[-1].text)
    ]


def write(
    book: OwnerBook,
    journal: Journal,
    question: str,
    old: str | None,
    new: str | None,
    mine: Collection[int],
) -> None:
    """Replaces the answer `old` to a question by `new` in the book (None: no answer). mine: ids of the
    judgements of this exchange. Raises DataError if the book cannot be written."""
    if old == new:
        return
    if old is not None and book.count(question, old) <= sum(taught(journal, question, old, mine)):
        old = None  # another lesson needs the line
    if new is not None and _says(book, journal, question, old, new, mine):
        new = None
    book.replace(question, old, new)


def take_out(book: OwnerBook, journal: Journal, lesson: Lesson) -> None:
    """Removes the book line of an undone lesson and restores the answer it had replaced, unless that was
    undone too or the line has changed since. A line that another lesson needs stays."""
    question, said = lesson.prompt[-1].text, " ".join(lesson.answer.split()) or None
    old = lesson.replaces if lesson.judgement is None else None
    if old is not None:
        were, there = taught(journal, question, old), book.answer_to(question)
        if in_vidyas(question, old) or there != said or (were and not any(were)):
            old = None
    # the lines of earlier lessons were replaced by the one that stands again
    since = lesson.id if old is not None else 0
    needed = 0 if said is None else sum(taught(journal, question, said, after=since))
    if said is None or book.count(question, said) > needed:
        book.replace(question, said, old)


def in_vidyas(question: str, answer: str) -> bool:
    """True if the shipped book contains this exchange."""
    return OwnerBook(personality.book.shipped_book_path()).has(question, answer)


def _says(
    book: OwnerBook,
    journal: Journal,
    question: str,
    old: str | None,
    answer: str,
    mine: Collection[int],
) -> bool:
    """True if the books without `old` already give this answer as their last one.

    A line that no lesson wrote is the owner's own and does not count: it must stay if the exchange is
    undone, so the exchange needs a line of its own."""
    last = book.answer_to(question, without=old)
    if last is None:
        return in_vidyas(question, answer)
    return last.split() == answer.split() and any(taught(journal, question, answer, mine))
