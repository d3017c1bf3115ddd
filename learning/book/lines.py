"""Which lines of the owner's book an exchange may write and take out: what is known already is not
written again, and a line that another lesson needs stays.
"""

from __future__ import annotations

from collections.abc import Collection

import personality.book
from learning.book.owner_book import OwnerBook
from learning.journal.journal import Journal
from learning.protocol.records import Ask, LessonKind

WRITTEN: tuple[LessonKind, ...] = ("pick", "correction", "example")
"""Lessons whose answers stand in the owner's book."""


def taught(journal: Journal, question: str, answer: str, but: Collection[int] = ()) -> list[bool]:
    """Of each lesson that gave this answer to this question, whether it stands; those of the judgements
    `but` left out."""
    wanted = (question.split(), answer.split())
    standing = {lesson.id for lesson in journal.standing()}
    return [
        lesson.id in standing
        for lesson in journal.lessons(kinds=WRITTEN)
        if lesson.prompt
        and (lesson.prompt[-1].text.split(), lesson.answer.split()) == wanted
        and (lesson.judgement is None or lesson.judgement not in but)
    ]


def of_exchange(journal: Journal, ask: Ask) -> list[int]:
    """Judgements of a message, of whichever of its asks: asked anew, the exchange is the same."""
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
    """Brings the book from one answer to another (None: none), as an exchange asks for whose judgements
    are `mine`. Raises DataError where the book cannot be written."""
    if old == new:
        return
    if old is not None and book.count(question, old) <= sum(taught(journal, question, old, mine)):
        old = None  # another lesson needs the line
    if new is not None and _says(book, journal, question, old, new, mine):
        new = None
    book.replace(question, old, new)


def in_vidyas(question: str, answer: str) -> bool:
    """Whether the book that comes with the program says this."""
    return OwnerBook(personality.book.shipped_book_path()).has(question, answer)


def _says(
    book: OwnerBook,
    journal: Journal,
    question: str,
    old: str | None,
    answer: str,
    mine: Collection[int],
) -> bool:
    """Whether the books, once `old` is out, give this answer already, and no other by now.

    A line that no lesson wrote is the owner's own: it does not count, since it has to stay when the
    exchange is taken back."""
    last = book.answer_to(question, without=old)
    if last is None:
        return in_vidyas(question, answer)
    return last.split() == answer.split() and any(taught(journal, question, answer, mine))
