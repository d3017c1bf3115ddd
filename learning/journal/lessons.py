"""The journal's lessons and their states, and versions of the weights.

A change of a lesson's state is appended to `lesson_events`; the lesson's row holds the last state, so that
listing waiting lessons is cheap. Left out: messages and optimizer steps (journal.py), judgements
(judgements.py).
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import NotFound
from learning.journal.database import Store
from learning.journal.rows import (
    LESSON_COLUMNS,
    UNDERSTANDING,
    blame_values,
    lesson_from_row,
    turns_to_json,
)
from learning.journal.standing import of_kinds, stands, taken_back
from learning.protocol.records import Lesson, LessonKind, LessonState, Turn
from learning.text.normalise import writable

MAIN_KINDS: tuple[LessonKind, ...] = ("pick", "correction", "rating", "example")
"""Kinds of lessons that the owner taught."""
RIDER_KINDS: tuple[LessonKind, ...] = ("owner_words", "continuation")
"""Kinds of weak lessons, which are added to the batches of other lessons."""

_MAIN, _RIDER = of_kinds(MAIN_KINDS), of_kinds(RIDER_KINDS)
LINE = """WITH RECURSIVE line(version) AS (
    VALUES (?)
    UNION SELECT p.parent FROM publications p JOIN line USING (version)) """
"""SQL for a version and all its ancestors: its parent, and so on back to the base model."""


WITHOUT = "without lesson "
"""Begins the note of a publication that restored earlier weights to undo a lesson."""
_AGAINST = "against lesson "


def against(lesson: int) -> str:
    """The note of a publication that was trained not to give the lesson's answer any more."""
    return f"{_AGAINST}{lesson}"


def _waiting() -> str:
    """SQL: the owner's lessons in effect that are to be learned."""
    return f"state = 'waiting' AND {_MAIN} AND {stands()}"


class LessonJournal(Store):
    """The methods of `Journal` for lessons, steps and versions."""

    reworded: tuple[object, int, dict[int, int]] | None = None
    """What the list of lessons (lesson_list) found last: `lessons_mark`, the number of the first lesson, and
    lesson -> the one that changes it in other words."""

    # ------------------------------------------------------------ lessons

    def add_lessons(
        self, lessons: Iterable[Lesson], judgement: int | None = None, ask: int | None = None
    ) -> list[Lesson]:
        """Records lessons in one transaction, and returns them with their ids.

        ask: the ask that they come from, so that `forget` finds them; the default is the judgement's ask.
        Raises NotFound for an unknown judgement.
        """
        with self.writing() as connection:
            return [insert_lesson(connection, lesson, judgement, ask) for lesson in lessons]

    def lesson(self, lesson: int) -> Lesson:
        """The lesson with that id. Raises NotFound."""
        row = self.row(f"SELECT {LESSON_COLUMNS} FROM lessons WHERE id = ?", lesson)
        if row is None:
            raise NotFound(
                f"lesson {lesson} is not in the journal", "`vidya journal show` lists them"
            )
        return lesson_from_row(row)

    def taught_at(self, lesson: int) -> float:
        """When a lesson was taught, in seconds since the epoch; infinity for one that is not there."""
        row = self.row("SELECT created FROM lessons WHERE id = ?", lesson)
        return float(row[0]) if row else math.inf

    def lessons(
        self,
        state: LessonState | None = None,
        kinds: Sequence[LessonKind] | None = None,
        after: int = 0,
    ) -> list[Lesson]:
        """Lessons with ids above `after`, oldest first, including those of withdrawn judgements.

        state, kinds: only lessons in this state, and of these kinds.
        """
        where, values = "id > ?", [after, *([state] if state else []), *(kinds or ())]
        if state is not None:
            where += " AND state = ?"
        if kinds is not None:
            where += f" AND kind IN ({', '.join('?' * len(kinds))})"
        return self._select(f"{where} ORDER BY id", *values)

    def lessons_of(self, judgement: int) -> list[Lesson]:
        """The lessons that came from a judgement, oldest first."""
        return self._select("judgement = ? ORDER BY id", judgement)

    def waiting(self) -> list[Lesson]:
        """The owner's lessons in effect that are to be learned, oldest first."""
        return self._select(f"{_waiting()} ORDER BY id")

    def next_waiting(self) -> Lesson | None:
        """The oldest of `waiting`."""
        return next(iter(self._select(f"{_waiting()} ORDER BY id LIMIT 1")), None)

    def waiting_count(self) -> int:
        """How many lessons are waiting to be learned."""
        row = self.row(f"SELECT count(*) FROM lessons WHERE {_waiting()}")
        return int(row[0]) if row else 0

    def riders(self) -> list[Lesson]:
        """Weak lessons in effect that wait to be added to a batch, oldest first."""
        return self._select(f"state = 'waiting' AND {_RIDER} AND {stands()} ORDER BY id")

    def standing(self, since: int = 0) -> list[Lesson]:
        """The owner's lessons in effect (neither taken back nor undone), oldest first. since: number of the
        first that is wanted."""
        return self._select(f"{_MAIN} AND {stands()} AND id >= ? ORDER BY id", since)

    def taken_back(self) -> list[Lesson]:
        """The owner's lessons that were taken back or undone, oldest first."""
        return self._select(f"{_MAIN} AND NOT {stands()} ORDER BY id")

    def lessons_mark(self) -> tuple[int, ...]:
        """A value that changes whenever `standing` or `taken_back` may return something else."""
        row = self.row(
            """SELECT (SELECT coalesce(max(id), 0) FROM lesson_events), (SELECT count(*) FROM lessons),
            (SELECT count(*) FROM withdrawals), (SELECT count(*) FROM retractions)"""
        )
        return tuple(row or ())

    def retract(self, lesson: int) -> None:
        """Takes back a lesson that has no judgement to withdraw, such as one from a file or from the book.
        Does not change the weights. Raises NotFound."""
        with self.writing() as connection:
            if not connection.execute("SELECT 1 FROM lessons WHERE id = ?", (lesson,)).fetchone():
                raise NotFound(f"lesson {lesson} is not in the journal", "it may be forgotten")
            connection.execute(
                "INSERT OR IGNORE INTO retractions (lesson, created) VALUES (?, ?)",
                (lesson, time.time()),
            )

    def to_undo(self) -> list[Lesson]:
        """Lessons that were taken back but not yet removed from the weights, oldest first."""
        return self._select(f"state != 'undone' AND {taken_back()} ORDER BY id")

    def taken_back_in(self, version: int) -> list[Lesson]:
        """Lessons in the weights of `version` that were taken back (possibly while another model was in
        use) and not trained against, oldest first."""
        known = self._select_in(version, f"NOT {stands()}")
        against = self.taught_against(version)
        return [lesson for lesson in known if lesson.id not in against]

    def last_lesson(self, skip: Collection[int] = ()) -> Lesson | None:
        """The newest lesson in effect: one of the owner's, or a learned practice. Ignores the ids in
        `skip`. None if there is none."""
        practised = "(kind = 'practice' AND state = 'learned')"
        sql = f"({_MAIN} OR {practised}) AND {stands()} ORDER BY id DESC LIMIT ?"
        found = self._select(sql, len(skip) + 1)
        return next((lesson for lesson in found if lesson.id not in skip), None)

    def set_lesson_state(self, lesson: int, state: LessonState) -> None:
        """Sets a lesson's state, and appends an event. Removes what was measured of it in its earlier state,
        because that describes other weights. Raises NotFound."""
        with self.writing() as connection:
            changed = connection.execute(
                f"UPDATE lessons SET state = ?, {' = NULL, '.join(UNDERSTANDING)} = NULL WHERE id = ?",
                (state, lesson),
            ).rowcount
            if not changed:
                raise NotFound(f"lesson {lesson} is not in the journal", "it may be forgotten")
            _add_event(connection, lesson, state)

    def lesson_events(self, lesson: int) -> list[tuple[LessonState, float]]:
        """All (state, seconds since the epoch) of a lesson, oldest first."""
        sql = "SELECT state, created FROM lesson_events WHERE lesson = ? ORDER BY id"
        return [(state, created) for state, created in self.rows(sql, lesson)]

    def _select(self, rest: str, *values: object) -> list[Lesson]:
        rows = self.rows(f"SELECT {LESSON_COLUMNS} FROM lessons WHERE {rest}", *values)
        return [lesson_from_row(row) for row in rows]

    def _select_in(self, version: int, where: str) -> list[Lesson]:
        """Lessons in the weights of `version` that satisfy an SQL condition, oldest first."""
        sql = f"""{LINE} SELECT {LESSON_COLUMNS} FROM lessons WHERE {where}
            AND id IN (SELECT lesson FROM publication_lessons JOIN line USING (version))
            ORDER BY id"""
        return [lesson_from_row(row) for row in self.rows(sql, version)]

    # ------------------------------------------------------------ versions

    def add_publication(
        self,
        version: int,
        parent_version: int,
        lessons: Iterable[int],
        path: str | None = None,
        note: str = "",
    ) -> None:
        """Records a new version of the weights.

        version: a new number, above all earlier ones. parent_version: the version that it was trained from;
        0: the model as shipped or imported. lessons: lessons in these weights that are not in the parent.
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
        """The highest version ever published, of any model; 0 if there is none."""
        row = self.row("SELECT max(version) FROM publications")
        return int(row[0] or 0) if row else 0

    def mark_saved(self, version: int) -> None:
        """Records that this version is on disk, and that the next start will load it."""
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO saves (version, created) VALUES (?, ?)", (version, time.time())
            )

    def saved_version(self) -> int:
        """The version last passed to `mark_saved`; 0 if there is none."""
        row = self.row("SELECT version FROM saves ORDER BY id DESC LIMIT 1")
        return int(row[0]) if row else 0

    def lessons_in(self, version: int) -> frozenset[int]:
        """Ids of all lessons in the weights of `version`: those of its publication and of all its
        ancestors."""
        sql = LINE + "SELECT DISTINCT lesson FROM publication_lessons JOIN line USING (version)"
        return frozenset(int(lesson) for (lesson,) in self.rows(sql, version))

    def lessons_since(self, version: int, note: str) -> list[int]:
        """Ids of the lessons in the weights of `version` that were published after its newest ancestor with
        this note, oldest first; of all lessons in it if none has the note."""
        newest = "SELECT coalesce(max(version), 0) FROM publications JOIN line USING (version) WHERE note = ?"
        sql = f"""{LINE}SELECT DISTINCT lesson FROM publication_lessons JOIN line USING (version)
            WHERE version > ({newest}) ORDER BY lesson"""
        return [int(lesson) for (lesson,) in self.rows(sql, version, note)]

    def trainings_in(self, version: int) -> frozenset[int]:
        """The versions among `version` and its ancestors that were made by book training."""
        sql = LINE + "SELECT version FROM publications JOIN line USING (version) WHERE note = ?"
        return frozenset(int(found) for (found,) in self.rows(sql, version, "book training"))

    def publication_note(self, version: int) -> str:
        """What a version was published for; "" if the journal does not know it."""
        row = self.row("SELECT note FROM publications WHERE version = ?", version)
        return str(row[0]) if row else ""

    def comes_from(self, version: int, earlier: int) -> bool:
        """Whether `version` is `earlier` or was trained from it. 0: the model as shipped or imported."""
        sql = f"{LINE} SELECT 1 FROM line WHERE version = ?"
        return self.row(sql, version, earlier) is not None

    def has_published(self, folder: Path) -> bool:
        """Whether any version of the model in a folder of this name is in the journal."""
        paths = self.rows("SELECT DISTINCT path FROM publications WHERE path IS NOT NULL")
        return any(Path(path).parent.name == folder.name for (path,) in paths)

    def learned_since(self, folder: Path, seconds: float) -> int:
        """Number of lessons that the model in the folder has learned since; seconds: of the epoch."""
        published = self.rows(
            """SELECT path FROM publications JOIN publication_lessons USING (version)
            WHERE created > ? AND path IS NOT NULL""",
            seconds,
        )
        return sum(Path(path).parent.name == folder.name for (path,) in published)

    def notes_since(self, version: int, earlier: int) -> list[str] | None:
        """What the publications after `earlier` up to `version` were for; None if `version` does not come
        from `earlier`. 0: the model as shipped or imported."""
        if not self.comes_from(version, earlier):
            return None
        sql = LINE + "SELECT version, note FROM publications JOIN line USING (version)"
        before = {found for (found,) in self.rows(f"{LINE} SELECT version FROM line", earlier)}
        return [str(note) for found, note in self.rows(sql, version) if found not in before]

    def taught_against(self, version: int) -> frozenset[int]:
        """Ids of the lessons that `version` or its ancestors were trained against in order to undo them. The
        training need not have succeeded."""
        sql = LINE + "SELECT note FROM publications JOIN line USING (version) WHERE note LIKE ?"
        notes = self.rows(sql, version, f"{_AGAINST}%")
        return frozenset(int(note.removeprefix(_AGAINST)) for (note,) in notes)

    def undone_by_training(self, version: int) -> list[Lesson]:
        """Undone lessons in the ancestry of `version` that the weights were trained against, oldest first."""
        against = self.taught_against(version)
        undone = self._select_in(version, "state = 'undone'")
        return [lesson for lesson in undone if lesson.id in against]

    def lessons_not_saved(self) -> list[Lesson]:
        """Lessons in state "learned" that some version contains but the saved one does not, oldest first.
        After a crash these must be learned again. Lessons that were undone, withdrawn or set to
        "needs_practice", as by a rollback, are left out.
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

    def lessons_restored(self, version: int, before: int) -> list[Lesson]:
        """Lessons contained in `version` but not in `before` that were "learned" until `before` came into
        use, and are no longer; oldest first. (After a crash, `version` may also contain lessons that were
        never marked learned; these are not returned.)"""
        last = "SELECT state FROM lesson_events e WHERE e.lesson = lessons.id ORDER BY e.id DESC"
        away = f"state IN ('waiting', 'needs_practice') AND ({last} LIMIT 1 OFFSET 1) = 'learned'"
        missed = self.lessons_in(before)
        found = self._select_in(version, f"{away} AND {stands()}")
        return [lesson for lesson in found if lesson.id not in missed]

    def set_version_in_use(self, version: int) -> None:
        """Records that `version` is in use now, for instance after a change of the model. Lessons that it
        contains and the version in use before did not are "learned" again."""
        before = self.saved_version()
        if before != version:
            for lesson in self.lessons_restored(version, before):
                self.set_lesson_state(lesson.id, "learned")
            self.mark_saved(version)


# ---------------------------------------------------------------- rows


def insert_lesson(
    connection: sqlite3.Connection,
    lesson: Lesson,
    judgement: int | None = None,
    ask: int | None = None,
) -> Lesson:
    """Writes a lesson inside the caller's transaction, and returns it with its id. Raises NotFound for an
    unknown judgement."""
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
        " state, blamed_from, blamed_to, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            *blame_values(lesson.blame).values(),
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
