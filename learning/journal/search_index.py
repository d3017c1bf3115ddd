"""Checks the full-text index of a journal, and rebuilds it if it is damaged.

The index can be computed from other tables, so a damaged one is repaired without telling the owner. Left out:
searching (learning.journal.search).
"""

from __future__ import annotations

import contextlib
import sqlite3

from learning.journal.migrations import MIGRATIONS

INDEX = "said"
_CREATE = next(sql for step in MIGRATIONS for sql in step if f"VIRTUAL TABLE {INDEX} " in sql)
_CHECK = f"INSERT INTO {INDEX} ({INDEX}) VALUES ('integrity-check')"
_TEXTS = ("asks", "answers", "candidates")
"""The tables that the index is built from."""


def concerns_index(error: sqlite3.Error) -> bool:
    """Whether a damaged index may have caused the error. Damage to other tables can cause the same error."""
    code, text = getattr(error, "sqlite_errorcode", 0) or 0, str(error)
    if code & 0xFF == sqlite3.SQLITE_CORRUPT:
        return True
    named = "fts5" in text or f"constructor failed: {INDEX}" in text
    return named or text.endswith(f"no such table: main.{INDEX}")


def readable(connection: sqlite3.Connection) -> bool:
    """Whether a search works. Fast: reads only a part of the index. Raises sqlite3.Error for other damage."""
    try:
        connection.execute(
            f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH '\"a\"' LIMIT 1"
        ).fetchall()
    except sqlite3.Error as error:
        if concerns_index(error) or "no such table" in str(error):
            return False
        raise
    return True


def whole(connection: sqlite3.Connection) -> bool:
    """Whether the index is intact and agrees with the texts. Reads all of both. Raises sqlite3.Error for
    other damage."""
    try:
        connection.execute(_CHECK)
        connection.execute(f"INSERT INTO {INDEX} ({INDEX}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.Error as error:
        if concerns_index(error) or "no such table" in str(error):
            return False
        raise
    return readable(connection)


def make_anew(connection: sqlite3.Connection) -> None:
    """Rebuilds the index from the texts, in the caller's transaction if there is one. Without one it works
    even if the index's own tables are unreadable. Raises sqlite3.Error if it fails."""
    if connection.in_transaction:
        _replace(connection)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _replace(connection)
        connection.execute("COMMIT")
        return
    except sqlite3.Error as error:
        connection.execute("ROLLBACK")
        if not concerns_index(error) or not _texts_whole(connection):
            raise
    _take_out(connection)
    with contextlib.suppress(sqlite3.DatabaseError):  # if it fails, the old pages only waste space
        connection.execute("VACUUM")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _fill(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _texts_whole(connection: sqlite3.Connection) -> bool:
    return all(
        connection.execute(f"PRAGMA quick_check('{table}')").fetchall() == [("ok",)]
        for table in _TEXTS
    )


def _replace(connection: sqlite3.Connection) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {INDEX}")
    _fill(connection)


def _fill(connection: sqlite3.Connection) -> None:
    connection.execute(_CREATE)
    connection.execute(f"INSERT INTO {INDEX} ({INDEX}) VALUES ('rebuild')")


def _take_out(connection: sqlite3.Connection) -> None:
    """Removes the index's tables from the schema without reading them. After a crash before they are created
    again, the next opening rebuilds the index (`readable`)."""
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute(
            f"DELETE FROM sqlite_master WHERE name = '{INDEX}' OR name GLOB '{INDEX}_*'"
            " AND type IN ('table', 'index')"
        )
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
