"""The journal's judgements: what the owner thought of candidates, and what an ask's answer is now.

The newest judgement that stands and carries a text is the answer, so taking one back brings the earlier
answer forth again. Left out: what is taught by it (learning.journal.lessons).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from engine.errors import NotFound
from learning.journal.database import insert_row, must_exist
from learning.journal.lessons import LessonJournal, insert_lesson
from learning.journal.rows import (
    judgement_from_row,
    judgement_values,
    mean_logprob,
)
from learning.journal.standing import ANSWERS, JUDGEMENT_STANDS, withdrawn
from learning.protocol.records import Judgement, Lesson, Rating
from learning.text.normalise import writable


@dataclass(frozen=True)
class Judged:
    """A judgement as it stands in the journal."""

    id: int
    judgement: Judgement
    answer: str
    """The text as the owner saw it."""
    created: float
    stands: bool
    """Neither withdrawn nor all its lessons undone."""


class JudgementJournal(LessonJournal):
    """Judgements and answers; a part of learning.journal.journal."""

    def judge(
        self,
        judgement: Judgement,
        answer: str,
        lessons: Sequence[Lesson] = (),
        withdraws: Iterable[int] = (),
    ) -> int:
        """Records a judgement, its lessons, and the judgements it takes back, in one transaction.

        answer: the text as the owner saw it; a pick or a correction makes it the ask's answer, a
        rating only where there is none yet. Durable when this returns. Raises NotFound.
        """
        answer = writable(answer)
        with self.writing() as connection:
            must_exist(connection, "asks", judgement.ask, "ask")
            _withdraw(connection, withdraws)
            number = insert_row(
                connection,
                "judgements",
                ask=judgement.ask,
                **judgement_values(judgement),
                answer=answer,
                created=time.time(),
            )
            if not isinstance(judgement, Rating) or self.answer(judgement.ask) is None:
                _answer(connection, judgement.ask, answer, number)
            for lesson in lessons:
                insert_lesson(connection, lesson, number, judgement.ask)
            return number

    def complete(self, judgement: int, answer: str, lessons: Sequence[Lesson]) -> list[Lesson]:
        """The lessons, and the whole answer, of a judgement that came before its text was whole."""
        with self.writing() as connection:
            row = connection.execute(
                "SELECT ask, kind FROM judgements WHERE id = ?", (judgement,)
            ).fetchone()
            if row is None:
                raise NotFound(f"judgement {judgement} is not in the journal", "judge again")
            if row[1] != "rating":
                _answer(connection, row[0], writable(answer), judgement)
            return [insert_lesson(connection, lesson, judgement, row[0]) for lesson in lessons]

    def withdraw(self, judgement: int) -> None:
        """Takes a judgement back: its answer and lessons no longer count. Raises NotFound."""
        with self.writing() as connection:
            must_exist(connection, "judgements", judgement, "judgement")
            _withdraw(connection, [judgement])

    def judgements(self, ask: int) -> list[Judged]:
        """All that were given on an ask, in order, those taken back too."""
        return self._judged("j.ask = ? ORDER BY j.id", ask)

    def judgements_without_lessons(self) -> list[Judged]:
        """Standing judgements that should have taught something and did not, oldest first: the
        program ended between an early pick and the end of its stream."""
        return self._judged(
            f"""NOT {withdrawn()} AND (j.kind != 'rating' OR j.value IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id)
            AND NOT EXISTS (SELECT 1 FROM judgements k WHERE k.ask = j.ask AND k.id > j.id
                AND (k.kind = 'rating') = (j.kind = 'rating')
                AND NOT {withdrawn("k.id")})
            ORDER BY j.id"""
        )

    def judged_good(self, conversation: int) -> dict[int, int]:
        """Asks whose answer was picked, typed or rated good, with the newest lesson of that; 0 where it
        has none yet."""
        sql = f"""SELECT j.ask, coalesce(max(l.id), 0) FROM judgements j
            LEFT JOIN lessons l ON l.judgement = j.id
            WHERE j.ask IN (SELECT id FROM asks WHERE conversation = ?)
            AND (j.kind != 'rating' OR j.value = 'good') AND {JUDGEMENT_STANDS} GROUP BY j.ask"""
        return dict(self.rows(sql, conversation))

    def answer(self, ask: int) -> str | None:
        """What the ask's answer is now."""
        row = self.row(f"SELECT a.text {ANSWERS} AND a.ask = ? ORDER BY a.id DESC LIMIT 1", ask)
        return str(row[0]) if row else None

    def set_answer(self, ask: int, text: str, lessons: Sequence[Lesson] = ()) -> None:
        """The talk goes on with this answer, unjudged. Raises NotFound."""
        with self.writing() as connection:
            must_exist(connection, "asks", ask, "ask")
            _answer(connection, ask, writable(text), None)
            for lesson in lessons:
                insert_lesson(connection, lesson, ask=ask)

    def first_picked(self) -> list[tuple[float, bool]]:
        """(seconds since the epoch, whether it stood first) of every pick that stands, in order. First
        stands the candidate of the highest mean log-probability; where no two are whole, or the others
        are erased, number 1."""
        rows = self.rows(
            f"""SELECT j.id, j.created, j.number, c.number, c.logprobs FROM judgements j
            LEFT JOIN candidates c ON c.ask = j.ask AND c.ending != 'cancelled'
            AND trim(c.text) != '' WHERE j.kind = 'pick' AND {JUDGEMENT_STANDS} ORDER BY j.id, c.id"""
        )
        found = list[tuple[float, bool]]()
        for _, group in groupby(rows, key=itemgetter(0)):
            same = list(group)
            created, picked = same[0][1:3]
            sure = {number: mean_logprob(packed) for *_, number, packed in same if packed}
            first = max(sorted(sure), key=lambda number: sure[number]) if len(sure) > 1 else 1
            found.append((created, picked == first))
        return found

    def ratings(self) -> list[tuple[float, bool]]:
        """(seconds since the epoch, whether it was good) of every rating that stands, in order."""
        rows = self.rows(
            "SELECT created, value = 'good' FROM judgements j WHERE kind = 'rating'"
            f" AND value IS NOT NULL AND {JUDGEMENT_STANDS} ORDER BY id"
        )
        return [(created, bool(good)) for created, good in rows]

    def _judged(self, rest: str, *values: object) -> list[Judged]:
        sql = f"""SELECT j.id, j.ask, j.kind, j.number, j.text, j.value, j.answer, j.created,
            {JUDGEMENT_STANDS} FROM judgements j WHERE {rest}"""
        return [
            Judged(
                number,
                judgement_from_row(ask, kind, index, text, value),
                answer,
                created,
                bool(stands),
            )
            for number, ask, kind, index, text, value, answer, created, stands in self.rows(
                sql, *values
            )
        ]


def _answer(connection: sqlite3.Connection, ask: int, text: str, judgement: int | None) -> None:
    insert_row(connection, "answers", ask=ask, judgement=judgement, text=text, created=time.time())


def _withdraw(connection: sqlite3.Connection, judgements: Iterable[int]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO withdrawals (judgement, created) VALUES (?, ?)",
        [(judgement, time.time()) for judgement in judgements],
    )
