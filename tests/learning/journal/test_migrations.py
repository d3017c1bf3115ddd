"""The journal's schema moves forward without losing a row, and never backward."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import JournalError
from learning.journal import migrations
from learning.journal.journal import Journal
from learning.journal.lesson_list import keep_understanding, taught, understandings
from learning.journal.migrations import MIGRATIONS, backups, migrate
from learning.journal.practices import practice_samples
from learning.protocol.events import PracticeSample
from learning.protocol.records import Understanding

ROOT = Path(__file__).parents[3]
SECOND = (MIGRATIONS[0], ("ALTER TABLE conversations ADD COLUMN title TEXT",))
V1 = """
CREATE TABLE conversations (id INTEGER PRIMARY KEY AUTOINCREMENT, created REAL NOT NULL);
CREATE TABLE asks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    history TEXT NOT NULL,
    message TEXT NOT NULL,
    sampling TEXT NOT NULL,
    seed INTEGER,
    created REAL NOT NULL);
CREATE INDEX asks_conversation ON asks (conversation);
INSERT INTO conversations (created) VALUES (12.5);
PRAGMA user_version = 1;
"""
OPENER = """
import sys
from pathlib import Path
from learning.journal.journal import Journal
sys.stdin.readline()
journal = Journal(Path(sys.argv[1]))
journal.new_conversation()
journal.close()
"""


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A journal as format 1 had it, cut down to what later steps change."""
    path = tmp_path / "journal.sqlite3"
    connection = connect(path)
    connection.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
    connection.executescript(V1)
    connection.close()
    return path


def test_a_new_file_gets_everything_and_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    Journal(path).close()
    connection = connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    assert connection.execute("PRAGMA application_id").fetchone()[0] == 0x76696479
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    connection.close()
    assert list(backups(path)) == []


def test_an_older_journal_is_copied_and_moved_on(old: Path) -> None:
    connection = connect(old)
    migrate(connection, old, SECOND)
    assert connection.execute("SELECT * FROM conversations").fetchall() == [(1, 12.5, None)]
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(SECOND)
    connection.close()
    (copy,) = backups(old)
    assert copy.name == "journal.sqlite3.before-2"
    before = connect(copy)
    assert before.execute("SELECT * FROM conversations").fetchall() == [(1, 12.5)]
    assert before.execute("PRAGMA user_version").fetchone()[0] == 1
    before.close()


def test_asks_of_format_1_find_what_they_went_on_from(old: Path) -> None:
    """Format 1: an ask follows the newest one before it that is two turns shorter."""
    connection = connect(old)
    turn, answer = ["user", "hello"], ["assistant", "hi"]
    histories = [[], [], [turn, answer], [turn, answer], [turn, answer] * 2, []]
    connection.executemany(
        "INSERT INTO asks (conversation, history, message, sampling, created)"
        " VALUES (?, ?, 'm', '{}', 1.0)",
        [(1, json.dumps(history)) for history in histories] + [(2, "[]")],
    )
    migrate(connection, old, MIGRATIONS[:2])  # later steps need tables that were cut away here
    rows = connection.execute("SELECT id, parent FROM asks ORDER BY id").fetchall()
    connection.close()
    assert rows == [
        *((1, None), (2, None), (3, 2), (4, 2), (5, 4), (6, None), (7, None)),
    ]


def written_in(number: int, path: Path, *statements: str) -> Journal:
    """A journal that was written in the format of this number, opened now."""
    connection = connect(path)
    migrate(connection, path, MIGRATIONS[:number])
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return Journal(path)


def test_answers_of_practice_before_format_8_count_as_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    journal = written_in(
        7,
        path,
        "INSERT INTO practices VALUES (1, 'sums', '{}', NULL, 1.0)",
        "INSERT INTO practice_samples VALUES (1, 3, '1+1', '2', 1.0, '{}', NULL, 1.0)",
    )
    assert practice_samples(journal, 1) == [PracticeSample(3, "1+1", "2", 1.0, {}, truncated=False)]
    journal.close()
    assert [copy.name for copy in backups(path)] == ["journal.sqlite3.before-8"]


def test_migrating_again_changes_nothing(old: Path) -> None:
    connection = connect(old)
    migrate(connection, old, SECOND)
    copies = [copy.stat().st_mtime_ns for copy in backups(old)]
    migrate(connection, old, SECOND)
    assert [copy.stat().st_mtime_ns for copy in backups(old)] == copies
    connection.close()


def test_a_step_that_fails_leaves_the_journal_as_it_was(old: Path) -> None:
    broken = (*SECOND, ("CREATE TABLE more (id INTEGER)", "CREATE TABLE conversations (id)"))
    connection = connect(old)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, old, broken)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == 1
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'more'").fetchall()
    assert tables == []
    assert connection.execute("SELECT * FROM conversations").fetchall() == [(1, 12.5)]
    connection.close()


def test_a_newer_journal_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    Journal(path).close()
    connection = connect(path)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError) as caught:
        Journal(path)
    assert f"newer vidya (format {len(MIGRATIONS) + 1}" in caught.value.what
    assert "update vidya" in caught.value.next_step
    assert path.read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    connection = connect(path)
    connection.execute("CREATE TABLE photos (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="another program"):
        Journal(path)
    assert path.read_bytes() == before


def test_processes_that_open_a_new_journal_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path)], stdin=subprocess.PIPE, text=True, cwd=ROOT
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.close()
    assert [opener.wait(timeout=30) for opener in openers] == [0, 0, 0, 0]
    journal = Journal(path)
    assert journal.integrity() == "ok"
    assert journal.row("SELECT count(*) FROM conversations") == (4,)
    journal.close()


def test_what_was_measured_before_format_10_is_of_every_model(tmp_path: Path) -> None:
    journal = written_in(
        9,
        tmp_path / "journal.sqlite3",
        "INSERT INTO measures (name, value, created) VALUES ('book_recall', 0.5, 1.0)",
        "INSERT INTO steps (kind, loss, batch, seconds, created) VALUES ('pick', 2.5, 32, 0.1, 1.0)",
    )
    for model in (None, "10m"):
        assert journal.measures("book_recall", model) == [(1.0, 0.5)]
        assert journal.measures("loss", model) == [(1.0, 2.5)]
    journal.close()


def test_lessons_before_format_9_were_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    journal = written_in(
        8,
        path,
        "INSERT INTO lessons (kind, prompt, answer, rejected, weight, state, created)"
        """ VALUES ('example', '[["user", "a"]]', 'b', '[]', 1.0, 'learned', 1.0)""",
    )
    assert understandings(journal, [1]) == {}
    (one,) = taught(journal, [1])
    assert (one.understanding, one.measured) == (Understanding(), None)
    keep_understanding(journal, 1, Understanding(4, 5, 1, 3))
    (one,) = taught(journal, [1])
    assert one.understanding == Understanding(4, 5, 1, 3) and one.measured
    journal.close()
    assert [copy.name for copy in backups(path)] == ["journal.sqlite3.before-9"]
