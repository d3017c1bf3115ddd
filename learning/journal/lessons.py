"""The half of the journal that says what is to be learned and what was: lessons, steps, versions.

What was said is in journal.py, what was judged in journal/judgements.py. A lesson's state is appended
to its events; the row carries the last one so that asking for those that wait stays cheap.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from engine.errors import NotFound
from learning.journal.database import Store
from learning.journal.rows import LESSON_COLUMNS, lesson_from_row, turns_to_json
from learning.journal.standing import of_kinds, stands, taken_back
from learning.protocol.records import Lesson, LessonKind, LessonState, Turn
from learning.text.normalise import writable

MAIN_KINDS: tuple[LessonKind, ...] = ("pick", "correction", "rating", "example")
"""What the owner taught. The other kinds ride along in batches."""
RIDER_KINDS: tuple[LessonKind, ...] = ("owner_words", "continuation")

_MAIN, _RIDER = of_kinds(MAIN_KINDS), of_kinds(RIDER_KINDS)
LINE = """WITH RECURSIVE line(version) AS (
    VALUES (?)
    UNION SELECT p.parent FROM publications p JOIN line USING (version)) """
"""The weights' ancestors: a version, its parent, and so on back to the base model."""


WITHOUT = "without lesson "
"""Begins the note of weights that are earlier ones again."""
_AGAINST = "against lesson "


def against(lesson: int) -> str:
    """The note of weights that were taught not to say what the lesson had taught."""
    return f"{_AGAINST}{lesson}"


class LessonJournal(Store):
    """Lessons and what became of them."""

    # ------------------------------------------------------------ lessons

    def add_lessons(
        self, lessons: Iterable[Lesson], judgement: int | None = None, ask: int | None = None
    ) -> list[Lesson]:
        """Journals lessons and returns them with their numbers, all in one transaction.

        ask: what they come from, so that `forget` finds them; a judgement's is found by itself.
        """
        with self.writing() as connection:
            return [insert_lesson(connection, lesson, judgement, ask) for lesson in lessons]

    def lesson(self, lesson: int) -> Lesson:
        """Raises NotFound."""
        row = self.row(f"SELECT {LESSON_COLUMNS} FROM lessons WHERE id = ?", lesson)
        if row is None:
            raise NotFound(
                f"lesson {lesson} is not in the journal", "`vidya journal show` lists them"
            )
        return lesson_from_row(row)

    def lessons(
        self,
        state: LessonState | None = None,
        kinds: Sequence[LessonKind] | None = None,
        after: int = 0,
    ) -> list[Lesson]:
        """Lessons numbered above `after`, oldest first; those of withdrawn judgements too."""
        where, values = "id > ?", [after, *([state] if state else []), *(kinds or ())]
        if state is not None:
            where += " AND state = ?"
        if kinds is not None:
            where += f" AND kind IN ({', '.join('?' * len(kinds))})"
        return self._select(f"{where} ORDER BY id", *values)

    def lessons_of(self, judgement: int) -> list[Lesson]:
        """What a judgement taught."""
        return self._select("judgement = ? ORDER BY id", judgement)

    def waiting(self) -> list[Lesson]:
        """What the owner taught and the weights do not have yet, oldest first."""
        return self._select(f"state = 'waiting' AND {_MAIN} AND {stands()} ORDER BY id")

    def riders(self) -> list[Lesson]:
        """Weak lessons that wait to ride along in a batch, oldest first."""
        return self._select(f"state = 'waiting' AND {_RIDER} AND {stands()} ORDER BY id")

    def standing(self) -> list[Lesson]:
        """What the owner taught and did not take back, oldest first."""
        return self._select(f"{_MAIN} AND {stands()} ORDER BY id")

    def taken_back(self) -> list[Lesson]:
        """What the owner taught and took back, oldest first."""
        return self._select(f"{_MAIN} AND NOT {stands()} ORDER BY id")

    def lessons_mark(self) -> tuple[int, ...]:
        """Another one whenever `standing` or `taken_back` may be others."""
        row = self.row(
            """SELECT (SELECT coalesce(max(id), 0) FROM lesson_events), (SELECT count(*) FROM lessons),
            (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM retractions)"""
        )
        return tuple(row or ())

    def retract(self, lesson: int) -> None:
        """Takes back a lesson that has no judgement to withdraw, as those from a file or of the book
        have none; the weights follow. Raises NotFound."""
        with self.writing() as connection:
            if not connection.execute("SELECT 1 FROM lessons WHERE id = ?", (lesson,)).fetchone():
                raise NotFound(f"lesson {lesson} is not in the journal", "it may be forgotten")
            connection.execute(
                "INSERT OR IGNORE INTO retractions (lesson, created) VALUES (?, ?)",
                (lesson, time.time()),
            )

    def to_undo(self) -> list[Lesson]:
        """Lessons that were taken back and are not undone yet, oldest first."""
        return self._select(f"state != 'undone' AND {taken_back()} ORDER BY id")

    def taken_back_in(self, version: int) -> list[Lesson]:
        """Lessons that were taken back, be it in another model, and that these weights still know and
        were not taught against; oldest first."""
        known = self._select_in(version, f"NOT {stands()}")
        against = self.taught_against(version)
        return [lesson for lesson in known if lesson.id not in against]

    def last_lesson(self, skip: Collection[int] = ()) -> Lesson | None:
        """The newest that the owner taught and did not take back, or the newest practice that is in
        the weights, `skip` passed over."""
        practised = "(kind = 'practice' AND state = 'learned')"
        sql = f"({_MAIN} OR {practised}) AND {stands()} ORDER BY id DESC LIMIT ?"
        found = self._select(sql, len(skip) + 1)
        return next((lesson for lesson in found if lesson.id not in skip), None)

    def set_lesson_state(self, lesson: int, state: LessonState) -> None:
        """Appends an event. Raises NotFound."""
        with self.writing() as connection:
            changed = connection.execute(
                "UPDATE lessons SET state = ? WHERE id = ?", (state, lesson)
            ).rowcount
            if not changed:
                raise NotFound(f"lesson {lesson} is not in the journal", "it may be forgotten")
            _add_event(connection, lesson, state)

    def lesson_events(self, lesson: int) -> list[tuple[LessonState, float]]:
        """(state, seconds since the epoch), in order."""
        sql = "SELECT state, created FROM lesson_events WHERE lesson = ? ORDER BY id"
        return [(state, created) for state, created in self.rows(sql, lesson)]

    def _select(self, rest: str, *values: object) -> list[Lesson]:
        rows = self.rows(f"SELECT {LESSON_COLUMNS} FROM lessons WHERE {rest}", *values)
        return [lesson_from_row(row) for row in rows]

    def _select_in(self, version: int, where: str) -> list[Lesson]:
        """Of the lessons that these weights have learned."""
        sql = f"""{LINE} SELECT {LESSON_COLUMNS} FROM lessons WHERE {where}
            AND id IN (SELECT lesson FROM publication_lessons JOIN line USING (version))
            ORDER BY id"""
        return [lesson_from_row(row) for row in self.rows(sql, version)]

    # ------------------------------------------------------------ steps and versions

    def add_step(
        self, lesson_ids: Iterable[int], loss: float, batch: int, seconds: float, kind: str
    ) -> int:
        """Records one optimizer step and the lessons in its batch."""
        with self.writing() as connection:
            step = connection.execute(
                "INSERT INTO steps (kind, loss, batch, seconds, created) VALUES (?, ?, ?, ?, ?)",
                (kind, loss if math.isfinite(loss) else None, batch, seconds, time.time()),
            ).lastrowid
            connection.executemany(  # those forgotten meanwhile are left out
                "INSERT OR IGNORE INTO step_lessons SELECT ?, id FROM lessons WHERE id = ?",
                [(step, lesson) for lesson in lesson_ids],
            )
            return step or 0

    def add_publication(
        self,
        version: int,
        parent_version: int,
        lessons: Iterable[int],
        path: str | None = None,
        note: str = "",
    ) -> None:
        """Records that weights were published.

        version: a new number, above every earlier one. parent_version: the weights it was made
        from; 0 is the model as it came. lessons: those the weights have that the parent had not.
        """
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO publications (version, parent, path, note, created)"
                " VALUES (?, ?, ?, ?, ?)",
                (version, parent_version, path, note, time.time()),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO publication_lessons SELECT ?, id FROM lessons WHERE id = ?",
                [(version, lesson) for lesson in lessons],
            )

    def latest_version(self) -> int:
        """The highest number ever published, whichever weights are in use; 0 at the start."""
        row = self.row("SELECT max(version) FROM publications")
        return int(row[0] or 0) if row else 0

    def mark_saved(self, version: int) -> None:
        """These weights are on the disk now and are those that the next start loads."""
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO saves (version, created) VALUES (?, ?)", (version, time.time())
            )

    def saved_version(self) -> int:
        """The last that was marked; 0 where none was."""
        row = self.row("SELECT version FROM saves ORDER BY id DESC LIMIT 1")
        return int(row[0]) if row else 0

    def lessons_in(self, version: int) -> frozenset[int]:
        """Lessons that these weights have learned, through all their ancestors."""
        sql = LINE + "SELECT DISTINCT lesson FROM publication_lessons JOIN line USING (version)"
        return frozenset(int(lesson) for (lesson,) in self.rows(sql, version))

    def trainings_in(self, version: int) -> frozenset[int]:
        """Versions among these weights' ancestors that book training made."""
        sql = LINE + "SELECT version FROM publications JOIN line USING (version) WHERE note = ?"
        return frozenset(int(found) for (found,) in self.rows(sql, version, "book training"))

    def publication_note(self, version: int) -> str:
        """What made these weights; empty where that is not known."""
        row = self.row("SELECT note FROM publications WHERE version = ?", version)
        return str(row[0]) if row else ""

    def taught_against(self, version: int) -> frozenset[int]:
        """Lessons of these weights that were taken back by teaching against them, or that were tried
        to be."""
        sql = LINE + "SELECT note FROM publications JOIN line USING (version) WHERE note LIKE ?"
        notes = self.rows(sql, version, f"{_AGAINST}%")
        return frozenset(int(note.removeprefix(_AGAINST)) for (note,) in notes)

    def turned_away(self, version: int) -> list[Lesson]:
        """Lessons that were taken back and that these weights were taught against; oldest first."""
        against = self.taught_against(version)
        undone = self._select_in(version, "state = 'undone'")
        return [lesson for lesson in undone if lesson.id in against]

    def lessons_not_saved(self) -> list[Lesson]:
        """Lessons that were in published weights but are not in the saved ones, oldest first.

        After a crash these must be learned again. Left out are those undone or withdrawn, and
        those that need practice: weights that were rolled back on purpose do not have them either.
        """
        rows = self.rows(
            LINE
            + f"""SELECT {LESSON_COLUMNS} FROM lessons
            WHERE state = 'learned' AND {stands()}
            AND id IN (SELECT lesson FROM publication_lessons)
            AND id NOT IN (SELECT lesson FROM publication_lessons JOIN line USING (version))
            ORDER BY id""",
            self.saved_version(),
        )
        return [lesson_from_row(row) for row in rows]

    def back_in(self, version: int, before: int) -> list[Lesson]:
        """Lessons that these weights have and those of `before` had not, and that were learned until
        such weights came into use; oldest first. After a crash a lesson in them was not learned yet."""
        last = "SELECT state FROM lesson_events e WHERE e.lesson = lessons.id ORDER BY e.id DESC"
        away = f"state IN ('waiting', 'needs_practice') AND ({last} LIMIT 1 OFFSET 1) = 'learned'"
        missed = self.lessons_in(before)
        found = self._select_in(version, f"{away} AND {stands()}")
        return [lesson for lesson in found if lesson.id not in missed]

    def follow(self, version: int) -> None:
        """These weights are in use now: what only others lacked is learned."""
        before = self.saved_version()
        if before != version:
            for lesson in self.back_in(version, before):
                self.set_lesson_state(lesson.id, "learned")
            self.mark_saved(version)

    # ------------------------------------------------------------ progress over time

    def add_measure(self, name: str, value: float) -> None:
        """Records a number to be plotted over time, e.g. "book_recall", if it is finite."""
        if math.isfinite(value):
            with self.writing() as connection:
                connection.execute(
                    "INSERT INTO measures (name, value, created) VALUES (?, ?, ?)",
                    (name, value, time.time()),
                )

    def measures(self, name: str) -> list[tuple[float, float]]:
        """(seconds since the epoch, value), in order. "loss" is that of every step."""
        if name == "loss":
            rows = self.rows(
                "SELECT created, loss FROM steps WHERE loss IS NOT NULL"
                " AND kind != 'practice' ORDER BY id"
            )
        else:
            rows = self.rows("SELECT created, value FROM measures WHERE name = ? ORDER BY id", name)
        return [(created, value) for created, value in rows]

    def rewards(self) -> list[tuple[float, float]]:
        """(seconds since the epoch, mean reward) of every step of practice, whatever the task."""
        sql = "SELECT created, value FROM measures WHERE name LIKE 'practice/%/reward' ORDER BY id"
        return [(created, value) for created, value in self.rows(sql)]


# ---------------------------------------------------------------- rows


def insert_lesson(
    connection: sqlite3.Connection,
    lesson: Lesson,
    judgement: int | None = None,
    ask: int | None = None,
) -> Lesson:
    """Writes a lesson inside the caller's transaction."""
    lesson = replace(
        lesson,
        judgement=judgement if judgement is not None else lesson.judgement,
        prompt=tuple(Turn(turn.role, writable(turn.text)) for turn in lesson.prompt),
        answer=writable(lesson.answer),
        rejected=tuple(writable(text) for text in lesson.rejected),
        replaces=writable(lesson.replaces) if lesson.replaces is not None else None,
    )
    if lesson.judgement is not None and ask is None:
        row = connection.execute(
            "SELECT ask FROM judgements WHERE id = ?", (lesson.judgement,)
        ).fetchone()
        if row is None:
            raise NotFound(f"judgement {lesson.judgement} is not in the journal", "judge again")
        ask = row[0]
    number = connection.execute(
        "INSERT INTO lessons (ask, judgement, kind, prompt, answer, rejected, weight, replaces,"
        " state, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            ask,
            lesson.judgement,
            lesson.kind,
            turns_to_json(lesson.prompt),
            lesson.answer,
            json.dumps(lesson.rejected, ensure_ascii=False),
            lesson.weight,
            lesson.replaces,
            lesson.state,
            time.time(),
        ),
    ).lastrowid
    _add_event(connection, number or 0, lesson.state)
    return replace(lesson, id=number or 0)


def _add_event(connection: sqlite3.Connection, lesson: int, state: str) -> None:
    connection.execute(
        "INSERT INTO lesson_events (lesson, state, created) VALUES (?, ?, ?)",
        (lesson, state, time.time()),
    )
