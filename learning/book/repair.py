"""Updates the owner's book after a crash, because the journal is written first and then the book.

Considers only judgements made after the book was last written, so that lines which the owner removed by
hand stay removed. A missing book is rebuilt from the journal.
"""

from __future__ import annotations

from learning.book.lines import WRITTEN, of_exchange, taught, write
from learning.book.owner_book import OwnerBook
from learning.journal.journal import Journal
from learning.journal.standing import TAUGHT, of_kinds, stands, withdrawn

_CHANGED = """SELECT max(created), ask FROM (
    SELECT ask, created FROM judgements
    UNION ALL SELECT ask, created FROM lessons WHERE judgement IS NOT NULL
    UNION ALL SELECT j.ask, w.created FROM withdrawals w JOIN judgements j ON j.id = w.judgement)
    WHERE created > ? GROUP BY ask"""

_STOOD = f"NOT {withdrawn(until='?2')} AND {TAUGHT}"

_TEXT = f"""SELECT a.text FROM answers a JOIN judgements j ON j.id = a.judgement
    WHERE a.ask = ?1 AND a.created <= ?2 AND j.kind != 'rating' AND {_STOOD}
    ORDER BY a.id DESC LIMIT 1"""

_RATING = f"""SELECT j.value FROM judgements j WHERE j.ask = ?1 AND j.created <= ?2
    AND j.kind = 'rating' AND j.answer = ?3 AND (j.value IS NULL OR {_STOOD})
    ORDER BY j.id DESC LIMIT 1"""

_LOOSE = f"""SELECT created, id FROM lessons WHERE created > ? AND judgement IS NULL
    AND {of_kinds(WRITTEN)} AND {stands()}"""

_RETRACTED = "SELECT created, lesson FROM retractions WHERE created > ?"

_FOREVER = 1e300


def mend_book(book: OwnerBook, journal: Journal) -> None:
    """Makes the book agree with the journal: does what changed since, in the order in which it happened,
    because of two answers to a question the last line counts. Raises DataError if the book cannot be
    written."""
    since = book.written()
    changes = [
        (created, number, mend)
        for sql, mend in ((_CHANGED, _ask), (_LOOSE, _loose), (_RETRACTED, _retracted))
        for created, number in journal.rows(sql, since)
    ]
    for _, number, mend in sorted(changes, key=lambda change: change[:2]):
        mend(book, journal, number, since)


def _ask(book: OwnerBook, journal: Journal, number: int, since: float) -> None:
    """What was judged at an ask."""
    was, now = _answer(journal, number, since), _answer(journal, number, _FOREVER)
    ask = journal.ask(number)
    question = ask.turns[-1].text
    if was != now and not (now is not None and book.has(question, now)):
        write(book, journal, question, was, now, of_exchange(journal, ask))


def _loose(book: OwnerBook, journal: Journal, number: int, since: float) -> None:
    """A lesson from a file of lessons, or edited in the book."""
    lesson = journal.lesson(number)
    if len(lesson.prompt) == 1:
        question, answer = lesson.prompt[-1].text, lesson.answer or None
        if not (answer and book.has(question, answer)):
            book.replace(question, lesson.replaces, answer)


def _retracted(book: OwnerBook, journal: Journal, number: int, since: float) -> None:
    """A lesson that was taken back. A line that another lesson needs stays."""
    lesson = journal.lesson(number)
    if lesson.prompt and lesson.answer and lesson.kind in WRITTEN:
        question, answer = lesson.prompt[-1].text, lesson.answer
        if book.count(question, answer) > sum(taught(journal, question, answer)):
            book.take_out(question, answer)


def _answer(journal: Journal, ask: int, at: float) -> str | None:
    """The answer that the book should have had at time `at` (Unix seconds): picked or typed, and not
    rated bad. None: no answer."""
    found = journal.row(_TEXT, ask, at)
    if found is None:
        return None
    rating = journal.row(_RATING, ask, at, found[0])
    return None if rating and rating[0] == "bad" else str(found[0])
