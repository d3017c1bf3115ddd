"""The journal's judgements (picks, corrections, ratings), and the current answer of an ask.

The current answer is the newest one whose judgement is in effect, so withdrawing a judgement restores the
answer before. Left out: making lessons of judgements (learning.channels), storing them
(learning.journal.lessons).
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
from learning.protocol.records import Ask, Judgement, Lesson, Rating
from learning.text.normalise import writable


@dataclass(frozen=True)
class Judged:
    """A judgement that is in the journal."""

    id: int
    judgement: Judgement
    answer: str
    """The judged text as the owner saw it."""
    created: float
    """Seconds since the epoch."""
    stands: bool
    """In effect: neither withdrawn nor all its lessons undone."""


class JudgementJournal(LessonJournal):
    """The methods of `Journal` for judgements and answers."""

    def judge(
        self,
        judgement: Judgement,
        answer: str,
        lessons: Sequence[Lesson] = (),
        withdraws: Iterable[int] = (),
    ) -> int:
        """Records a judgement with its lessons, and withdraws others, in one transaction. Returns its id.

        answer: the judged text as the owner saw it. It becomes the ask's answer, for a rating only if the ask
        has none yet. withdraws: ids of judgements. Raises NotFound.
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
        """Adds lessons and the complete answer to a judgement that was given while its text was still
        streaming. Returns the lessons with their ids. Raises NotFound."""
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
        """Withdraws a judgement, so that its answer and lessons no longer count. Raises NotFound."""
        with self.writing() as connection:
            must_exist(connection, "judgements", judgement, "judgement")
            _withdraw(connection, [judgement])

    def judgements(self, ask: int) -> list[Judged]:
        """All judgements of an ask, oldest first, including withdrawn ones."""
        return self._judged("j.ask = ? ORDER BY j.id", ask)

    def rated_before(self, ask: Ask) -> Judged | None:
        """The bad rating in effect for whose reason the message was asked again as `ask`; None: it was asked
        for another reason, or the rating was withdrawn."""
        if ask.again is None:
            return None
        found = self._judged(
            f"""j.value = 'bad' AND j.answer = ? AND j.reason = ? AND {JUDGEMENT_STANDS} AND j.ask IN (
                SELECT id FROM asks WHERE conversation = ? AND parent IS ? AND id < ?)
            ORDER BY j.id DESC LIMIT 1""",
            *(ask.again.old, ask.again.reason, ask.conversation, ask.parent, ask.id),
        )
        return found[0] if found else None

    def judgements_without_lessons(self) -> list[Judged]:
        """Judgements in effect that need lessons and have none, oldest first: the program ended after a
        pick and before the picked answer was complete."""
        return self._judged(
            f"""NOT {withdrawn()} AND (j.kind != 'rating' OR j.value IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM lessons l WHERE l.judgement = j.id)
            AND NOT EXISTS (SELECT 1 FROM judgements k WHERE k.ask = j.ask AND k.id > j.id
                AND (k.kind = 'rating') = (j.kind = 'rating')
                AND NOT {withdrawn("k.id")})
            ORDER BY j.id"""
        )

    def reasons(self) -> list[Judged]:
        """Judgements in effect with a reason, oldest first. A bad rating is left out where the message was
        answered again for that reason and an answer picked: the pick has it."""
        return self._judged(
            f"""j.reason IS NOT NULL AND {JUDGEMENT_STANDS} AND NOT (j.value IS 'bad' AND EXISTS (
                SELECT 1 FROM asks a JOIN judgements p ON p.ask = a.id AND p.kind = 'pick'
                WHERE a.old = j.answer AND a.reason = j.reason AND NOT {withdrawn("p.id")}))
            ORDER BY j.id"""
        )

    def reasons_given(self) -> dict[int, str]:
        """Judgement -> its reason, for all that have one, withdrawn ones included."""
        return dict(self.rows("SELECT id, reason FROM judgements WHERE reason IS NOT NULL"))

    def judged_good(self, conversation: int) -> dict[int, int]:
        """The asks whose answer was picked, typed or rated good -> id of the newest lesson from that; 0 if
        there is none yet."""
        sql = f"""SELECT j.ask, coalesce(max(l.id), 0) FROM judgements j
            LEFT JOIN lessons l ON l.judgement = j.id AND l.kind != 'reason'
            WHERE j.ask IN (SELECT id FROM asks WHERE conversation = ?)
            AND (j.kind != 'rating' OR j.value = 'good') AND {JUDGEMENT_STANDS} GROUP BY j.ask"""
        return dict(self.rows(sql, conversation))

    def answer(self, ask: int) -> str | None:
        """The ask's current answer; None if it has none."""
        row = self.row(f"SELECT a.text {ANSWERS} AND a.ask = ? ORDER BY a.id DESC LIMIT 1", ask)
        return str(row[0]) if row else None

    def set_answer(self, ask: int, text: str, lessons: Sequence[Lesson] = ()) -> None:
        """Makes `text` the ask's answer without a judgement, and records weak lessons. Raises NotFound."""
        with self.writing() as connection:
            must_exist(connection, "asks", ask, "ask")
            _answer(connection, ask, writable(text), None)
            for lesson in lessons:
                insert_lesson(connection, lesson, ask=ask)

    def first_picked(self) -> list[tuple[float, bool]]:
        """(seconds since the epoch, whether it was the surest candidate) of every pick in effect, oldest
        first.

        The surest candidate has the greatest certainty; in journals from before there was one, the highest
        mean log-probability. If fewer than two complete candidates are in the journal, number 1 counts as the
        surest.
        """
        rows = self.rows(
            f"""SELECT j.id, j.created, j.number, c.number, c.logprobs, c.certainty FROM judgements j
            LEFT JOIN candidates c ON c.ask = j.ask AND c.ending != 'cancelled'
            AND stripped(c.text) != '' WHERE j.kind = 'pick' AND {JUDGEMENT_STANDS} ORDER BY j.id, c.id"""
        )
        found = list[tuple[float, bool]]()
        for _, group in groupby(rows, key=itemgetter(0)):
            same = list(group)
            created, picked = same[0][1:3]
            sure = {number: certain for *_, number, _, certain in same if certain is not None}
            sure = sure or {number: mean_logprob(told) for *_, number, told, _ in same if told}
            several = len(same) > 1 and sure
            first = max(sorted(sure), key=lambda number: sure[number]) if several else 1
            found.append((created, picked == first))
        return found

    def ratings(self) -> list[tuple[float, bool]]:
        """(seconds since the epoch, whether it was good) of every rating in effect, oldest first."""
        rows = self.rows(
            "SELECT created, value = 'good' FROM judgements j WHERE kind = 'rating'"
            f" AND value IS NOT NULL AND {JUDGEMENT_STANDS} ORDER BY id"
        )
        return [(created, bool(good)) for created, good in rows]

    def _judged(self, rest: str, *values: object) -> list[Judged]:
        sql = f"""SELECT j.id, j.ask, j.kind, j.number, j.text, j.value, j.reason, j.blamed_from, j.blamed_to,
            j.answer, j.created, {JUDGEMENT_STANDS} FROM judgements j WHERE {rest}"""
        return [
            Judged(
                number,
                judgement_from_row(ask, *row),
                answer,
                created,
                bool(stands),
            )
            for number, ask, *row, answer, created, stands in self.rows(sql, *values)
        ]


def _answer(connection: sqlite3.Connection, ask: int, text: str, judgement: int | None) -> None:
    insert_row(connection, "answers", ask=ask, judgement=judgement, text=text, created=time.time())


def _withdraw(connection: sqlite3.Connection, judgements: Iterable[int]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO withdrawals (judgement, created) VALUES (?, ?)",
        [(judgement, time.time()) for judgement in judgements],
    )
