"""Updates the owner's book after a crash, because the journal is written first and then the book.

Considers only judgements made after the book was last written, so that lines which the owner removed by
hand stay removed. A missing book is rebuilt from the journal.
"""

from __future__ import annotations

from learning.book.lines import WRITTEN, of_exchange, write
from learning.book.owner_book import OwnerBook
from learning.journal.journal import Journal
from learning.journal.lessons import RIDER_KINDS
from learning.journal.standing import TAUGHT, of_kinds, stands, withdrawn

_CHANGED = """SELECT ask FROM (
    SELECT ask, created FROM judgements
    UNION ALL SELECT ask, created FROM lessons WHERE judgement IS NOT NULL
    UNION ALL SELECT j.ask, w.created FROM withdrawals w JOIN judgements j ON j.id = w.judgement)
    WHERE created > ? GROUP BY ask ORDER BY max(created)"""

_STOOD = f"NOT {withdrawn(until='?2')} AND {TAUGHT}"

_TEXT = f"""SELECT a.text FROM answers a JOIN judgements j ON j.id = a.judgement
    WHERE a.ask = ?1 AND a.created <= ?2 AND j.kind != 'rating' AND {_STOOD}
    ORDER BY a.id DESC LIMIT 1"""

_RATING = f"""SELECT j.value FROM judgements j WHERE j.ask = ?1 AND j.created <= ?2
    AND j.kind = 'rating' AND j.answer = ?3 AND (j.value IS NULL OR {_STOOD})
    ORDER BY j.id DESC LIMIT 1"""

_LOOSE = f"""SELECT id FROM lessons WHERE created > ? AND judgement IS NULL
    AND {of_kinds(WRITTEN)} AND {stands()} ORDER BY id"""

_FOREVER = 1e300


def mend_book(book: OwnerBook, journal: Journal) -> None:
    """Makes the book agree with the journal. Raises DataError if the book cannot be written."""
    since = book.written()
    for (ask,) in journal.rows(_CHANGED, since):
        was, now = _answer(journal, ask, since), _answer(journal, ask, _FOREVER)
        question = journal.ask(ask).turns[-1].text
        if was != now and not (now is not None and book.has(question, now)):
            write(book, journal, question, was, now, of_exchange(journal, journal.ask(ask)))
    for (number,) in journal.rows(_LOOSE, since):
        lesson = journal.lesson(number)
        if len(lesson.prompt) == 1:  # from a lesson file, or edited in the book
            question, answer = lesson.prompt[-1].text, lesson.answer or None
            if not (answer and book.has(question, answer)):
                book.replace(question, lesson.replaces, answer)
    for (number,) in journal.rows("SELECT lesson FROM retractions WHERE created > ?", since):
        lesson = journal.lesson(number)
        if lesson.prompt and lesson.answer and lesson.kind not in RIDER_KINDS:  # never in the book
            book.take_out(lesson.prompt[-1].text, lesson.answer)


def _answer(journal: Journal, ask: int, at: float) -> str | None:
    """The answer that the book should have had at time `at` (Unix seconds): picked or typed, and not
    rated bad. None: no answer."""
    found = journal.row(_TEXT, ask, at)
    if found is None:
        return None
    rating = journal.row(_RATING, ask, at, found[0])
    return None if rating and rating[0] == "bad" else str(found[0])
