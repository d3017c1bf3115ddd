"""The journal's schema as numbered migrations, applied once each, in order, and never edited afterwards.

`PRAGMA user_version` is the number of migrations applied to a file. A file with more than this program
knows is refused. Before an existing journal is migrated, a backup is written beside it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.errors import JournalError
from engine.storage.files import replacing

Migration = tuple[str, ...]
"""The SQL statements of one migration. All missing migrations are committed in one transaction."""

APPLICATION_ID = 0x76696479
"""`vidy`: marks a SQLite file as a journal of this program."""

MIGRATIONS: tuple[Migration, ...] = (
    # 1: conversations, judgements, lessons, versions
    (
        # AUTOINCREMENT: an id is never used again, even after `forget`
        """CREATE TABLE conversations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            created REAL NOT NULL)""",
        """CREATE TABLE asks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
            history TEXT NOT NULL,      -- JSON [[role, text], ...]: the turns before the message
            message TEXT NOT NULL,
            sampling TEXT NOT NULL,     -- JSON of engine.config.Sampling
            seed INTEGER,
            created REAL NOT NULL)""",
        """CREATE TABLE candidates (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            ask INTEGER NOT NULL REFERENCES asks ON DELETE CASCADE,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            tokens BLOB NOT NULL,       -- uint32, little endian
            logprobs BLOB NOT NULL,     -- float64, little endian
            ending TEXT NOT NULL,
            version INTEGER NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE judgements (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            ask INTEGER NOT NULL REFERENCES asks ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('pick', 'correction', 'rating')),
            number INTEGER,             -- the candidate picked or retyped
            text TEXT,                  -- what was typed
            value TEXT,                 -- good, bad, or NULL for a rating withdrawn
            answer TEXT NOT NULL,       -- the text as the owner saw it
            created REAL NOT NULL)""",
        """CREATE TABLE withdrawals (
            judgement INTEGER PRIMARY KEY REFERENCES judgements ON DELETE CASCADE,
            created REAL NOT NULL)""",
        """CREATE TABLE answers (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            ask INTEGER NOT NULL REFERENCES asks ON DELETE CASCADE,
            judgement INTEGER REFERENCES judgements ON DELETE CASCADE,
            text TEXT NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE lessons (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            ask INTEGER REFERENCES asks ON DELETE CASCADE,
            judgement INTEGER REFERENCES judgements ON DELETE CASCADE,
            kind TEXT NOT NULL,
            prompt TEXT NOT NULL,       -- JSON [[role, text], ...]
            answer TEXT NOT NULL,
            rejected TEXT NOT NULL,     -- JSON [text, ...]
            weight REAL NOT NULL,
            replaces TEXT,
            state TEXT NOT NULL,        -- that of the lesson's last event
            created REAL NOT NULL)""",
        """CREATE TABLE lesson_events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            lesson INTEGER NOT NULL REFERENCES lessons ON DELETE CASCADE,
            state TEXT NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE steps (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            loss REAL,                  -- NULL: not a finite number
            batch INTEGER NOT NULL,
            seconds REAL NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE step_lessons (
            step INTEGER NOT NULL REFERENCES steps ON DELETE CASCADE,
            lesson INTEGER NOT NULL REFERENCES lessons ON DELETE CASCADE,
            PRIMARY KEY (step, lesson))""",
        """CREATE TABLE publications (
            version INTEGER PRIMARY KEY,
            parent INTEGER NOT NULL,
            path TEXT,
            note TEXT NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE publication_lessons (
            version INTEGER NOT NULL REFERENCES publications ON DELETE CASCADE,
            lesson INTEGER NOT NULL REFERENCES lessons ON DELETE CASCADE,
            PRIMARY KEY (version, lesson))""",
        """CREATE TABLE saves (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            version INTEGER NOT NULL,
            created REAL NOT NULL)""",
        """CREATE TABLE measures (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            value REAL NOT NULL,
            created REAL NOT NULL)""",
        "CREATE INDEX asks_conversation ON asks (conversation)",
        "CREATE INDEX candidates_ask ON candidates (ask, number)",
        "CREATE INDEX judgements_ask ON judgements (ask)",
        "CREATE INDEX answers_ask ON answers (ask)",
        "CREATE INDEX answers_judgement ON answers (judgement)",
        "CREATE INDEX lessons_ask ON lessons (ask)",
        "CREATE INDEX lessons_judgement ON lessons (judgement)",
        "CREATE INDEX lessons_state ON lessons (state, kind)",
        "CREATE INDEX lesson_events_lesson ON lesson_events (lesson)",
        "CREATE INDEX step_lessons_lesson ON step_lessons (lesson)",
        "CREATE INDEX publication_lessons_lesson ON publication_lessons (lesson)",
        "CREATE INDEX measures_name ON measures (name)",
    ),
    # 2: the parent of each ask, so that every branch of a conversation can be found
    (
        "ALTER TABLE asks ADD COLUMN parent INTEGER REFERENCES asks ON DELETE SET NULL",
        # Before this migration, the parent was the newest earlier ask that was two turns shorter.
        """CREATE TEMP TABLE lengths AS
            SELECT id, conversation, json_array_length(history) AS turns FROM asks""",
        "CREATE INDEX temp.lengths_turns ON lengths (conversation, turns, id)",
        """UPDATE asks SET parent = (SELECT max(b.id) FROM lengths a JOIN lengths b
            ON b.conversation = a.conversation AND b.turns = a.turns - 2 AND b.id < a.id
            WHERE a.id = asks.id)""",
        "DROP TABLE temp.lengths",
        "DROP INDEX asks_conversation",
        # covers the query for the tree, so that the long histories are not read
        "CREATE INDEX asks_conversation ON asks (conversation, id, parent)",
        "CREATE INDEX asks_parent ON asks (parent)",
    ),
    # 3: titles, retractions of lessons without a judgement, full-text search
    (
        "ALTER TABLE conversations ADD COLUMN title TEXT",
        """CREATE TABLE retractions (
            lesson INTEGER PRIMARY KEY REFERENCES lessons ON DELETE CASCADE,
            created REAL NOT NULL)""",
        # text 3 n + kind is row n of the table of that kind
        """CREATE VIEW texts (id, text) AS
            SELECT 3 * id, message FROM asks
            UNION ALL SELECT 3 * id + 1, text FROM answers
            UNION ALL SELECT 3 * id + 2, text FROM candidates""",
        """CREATE VIRTUAL TABLE said USING fts5(
            text, content = 'texts', content_rowid = 'id', columnsize = 0,
            tokenize = 'unicode61 remove_diacritics 2')""",
        """CREATE TRIGGER asks_said AFTER INSERT ON asks BEGIN
            INSERT INTO said (rowid, text) VALUES (3 * new.id, new.message); END""",
        """CREATE TRIGGER asks_unsaid AFTER DELETE ON asks BEGIN
            INSERT INTO said (said, rowid, text) VALUES ('delete', 3 * old.id, old.message); END""",
        """CREATE TRIGGER answers_said AFTER INSERT ON answers BEGIN
            INSERT INTO said (rowid, text) VALUES (3 * new.id + 1, new.text); END""",
        """CREATE TRIGGER answers_unsaid AFTER DELETE ON answers BEGIN
            INSERT INTO said (said, rowid, text)
            VALUES ('delete', 3 * old.id + 1, old.text); END""",
        """CREATE TRIGGER candidates_said AFTER INSERT ON candidates BEGIN
            INSERT INTO said (rowid, text) VALUES (3 * new.id + 2, new.text); END""",
        """CREATE TRIGGER candidates_unsaid AFTER DELETE ON candidates BEGIN
            INSERT INTO said (said, rowid, text)
            VALUES ('delete', 3 * old.id + 2, old.text); END""",
        "INSERT INTO said (said) VALUES ('rebuild')",
    ),
    # 4: the certainty of a candidate
    ("ALTER TABLE candidates ADD COLUMN certainty REAL",),
    # 5: the reason for a judgement, and the answer and the reason that an ask is asked again for
    (
        "ALTER TABLE judgements ADD COLUMN reason TEXT",
        "ALTER TABLE asks ADD COLUMN old TEXT",
        "ALTER TABLE asks ADD COLUMN reason TEXT",
    ),
    # 6: the part of a bad answer that is to blame, in characters
    tuple(
        f"ALTER TABLE {table} ADD COLUMN {column} INTEGER{check}"
        for table in ("judgements", "lessons")
        for column, check in (
            ("blamed_from", ""),
            (
                "blamed_to",
                " CHECK ((blamed_from IS NULL) = (blamed_to IS NULL)"
                " AND (blamed_to IS NULL OR (blamed_from >= 0 AND blamed_to > blamed_from)))",
            ),
        )
    ),
    # 7: runs of practice with all that repeats them, the figures of their steps, and some answers
    (
        """CREATE TABLE practices (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            task TEXT NOT NULL,
            record TEXT NOT NULL,       -- JSON of learning.practice.record.PracticeRecord
            outcome TEXT,               -- JSON of PracticeDone; NULL until it ends
            created REAL NOT NULL)""",
        """CREATE TABLE practice_steps (
            practice INTEGER NOT NULL REFERENCES practices ON DELETE CASCADE,
            step INTEGER NOT NULL,
            figures TEXT NOT NULL,      -- JSON of StepFigures
            created REAL NOT NULL)""",
        """CREATE TABLE practice_samples (
            practice INTEGER NOT NULL REFERENCES practices ON DELETE CASCADE,
            step INTEGER NOT NULL,
            problem TEXT NOT NULL,
            text TEXT NOT NULL,
            reward REAL NOT NULL,
            components TEXT NOT NULL,   -- JSON: name -> value
            failed TEXT,
            created REAL NOT NULL)""",
        "CREATE INDEX practice_steps_practice ON practice_steps (practice, step)",
        "CREATE INDEX practice_samples_practice ON practice_samples (practice, step)",
    ),
    # 8: whether an answer of practice was cut off, and whether a candidate is the answer of another lesson,
    # which was offered; earlier ones count as whole, and as the model's own
    (
        """ALTER TABLE practice_samples ADD COLUMN truncated INTEGER NOT NULL DEFAULT 0
            CHECK (truncated IN (0, 1))""",
        "ALTER TABLE candidates ADD COLUMN offered INTEGER CHECK (offered IN (0, 1))",
    ),
    # 9: how well a lesson was understood when it was last measured; NULL: it was not
    (
        "ALTER TABLE lessons ADD COLUMN ways_known INTEGER",
        "ALTER TABLE lessons ADD COLUMN ways_asked INTEGER",
        "ALTER TABLE lessons ADD COLUMN neighbours_leaked INTEGER",
        "ALTER TABLE lessons ADD COLUMN neighbours_asked INTEGER",
        """ALTER TABLE lessons ADD COLUMN measured REAL CHECK (measured IS NULL
            OR coalesce(ways_known BETWEEN 0 AND ways_asked, 0)
            AND coalesce(neighbours_leaked BETWEEN 0 AND neighbours_asked, 0))""",
    ),
    # 10: the model that was measured or took a step; NULL: it was not kept
    tuple(f"ALTER TABLE {table} ADD COLUMN model TEXT" for table in ("measures", "steps")),
)


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Applies all missing migrations to the journal at `path`. The connection must be in autocommit mode.

    Safe if two programs do this at once: the migrations are counted again under the write lock. Raises
    JournalError for a file of a newer vidya or of another program, and sqlite3.Error.
    """
    if seen_steps(connection, path, len(migrations)) == len(migrations):
        return
    if (version := seen_steps(connection, path, len(migrations))) > 0:
        _back_up(connection, path, version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = seen_steps(connection, path, len(migrations))
        for migration in migrations[version:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def backups(path: Path) -> Iterator[Path]:
    """The backups that migrations wrote beside a journal."""
    yield from sorted(path.parent.glob(f"{path.name}.before-*"))


def seen_steps(connection: sqlite3.Connection, path: Path, known: int = len(MIGRATIONS)) -> int:
    """The number of migrations that were applied to the file; does not write. Raises JournalError for a
    file of another program or with more than `known` migrations."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if owner != APPLICATION_ID and (tables or version or owner):
        raise JournalError(
            f"{path}: a database of another program, not a journal",
            "move it away, or name another home with --home",
        )
    if version > known:
        raise JournalError(
            f"{path}: written by a newer vidya (format {version}, this one knows {known})",
            "update vidya, or name another home with --home",
        )
    return version


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Copies the journal, including its log, to `NAME.before-N`, where N is the first missing migration."""
    target = path.with_name(f"{path.name}.before-{version + 1}")
    with contextlib.suppress(_Faster), replacing(target) as new:
        copy = sqlite3.connect(new)
        try:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # a single file without a log
            copied = copy.execute("PRAGMA user_version").fetchone()[0]
        finally:
            copy.close()
        if copied != version:
            raise _Faster


class _Faster(Exception):  # noqa: N818 - not an error
    """Another program migrated the journal in the meantime, and made the backup itself."""
