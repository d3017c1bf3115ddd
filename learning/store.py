"""The journal's connection to SQLite: opening, transactions, and errors in the owner's words.

Knows nothing of asks or lessons. One connection behind one lock serves all threads of a process;
other processes share the file through WAL. `synchronous=FULL`: what a transaction wrote is on the
disk when it returns.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import JournalError, NotFound
from learning.migrations import migrate, seen_steps

Row = tuple[Any, ...]


class Store:
    """An open journal file, brought up to the newest schema."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file. Raises JournalError; the file is then left as it was."""
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        with self._errors():
            if not path.exists():
                # before SQLite does it: what the owner says is for the owner's eyes only
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(
                path, timeout=5.0, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        # what is erased must not live on in free pages or temporary files
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA synchronous = FULL")
        connection.create_function("contains", 2, _contains, deterministic=True)
        seen_steps(connection, self.path)  # a file that is refused is not even switched to WAL
        _set_wal(connection)
        migrate(connection, self.path)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns what SQLite and the system say into JournalError."""
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error
        except OverflowError as error:
            raise JournalError(
                f"{self.path}: a number too large for the journal", "name one below 2^63"
            ) from error
        except OSError as error:
            raise JournalError(
                f"{self.path}: cannot be opened ({error.strerror})",
                "check who may write there, or name another home with --home",
            ) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            if self._connection is None:
                raise JournalError(f"{self.path}: the journal is closed", "open it again")
            yield self._connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on the disk when the block ends, or none of it."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: Any) -> list[Row]:
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Row | None:
        with self.reading() as connection:
            row: Row | None = connection.execute(sql, values).fetchone()
            return row

    def integrity(self) -> str:
        """ "ok", or what SQLite's own check found first."""
        try:
            rows = self.rows("PRAGMA integrity_check(1)")
            broken = self.rows("PRAGMA foreign_key_check")
        except JournalError as error:
            return str(error)
        if rows[0][0] == "ok" and broken:
            return f"rows that point at rows that are gone: {len(broken)}, first in {broken[0][0]}"
        return str(rows[0][0])

    def size_bytes(self) -> int:
        """Bytes on the disk, with the log beside the file."""
        return sum(
            file.stat().st_size
            for suffix in ("", "-wal", "-shm")
            if (file := self.path.with_name(self.path.name + suffix)).exists()
        )

    def close(self) -> None:
        """Closes the file; every later call raises JournalError. Closing twice is fine."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _contains(text: str | None, wanted: str) -> bool:
    """SQL function: is `wanted` (already folded) in the text, whatever its case."""
    return text is not None and wanted in text.casefold()


def _set_wal(connection: sqlite3.Connection) -> None:
    """Changing to WAL needs the file for a moment, and SQLite does not wait for that by itself."""
    deadline = time.monotonic() + 5.0
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _code(error: sqlite3.Error) -> int:
    """The primary result code; 0 where the error is not from SQLite itself."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _explain(error: sqlite3.Error, path: Path) -> JournalError:
    what, next_step = {
        sqlite3.SQLITE_FULL: (
            "the disk is full",
            "free some space and do it again; what was taken before is safe",
        ),
        sqlite3.SQLITE_BUSY: (
            "another program is writing to it",
            "wait a moment and do it again",
        ),
        sqlite3.SQLITE_NOTADB: (
            "not a journal",
            "move it away, or name another home with --home",
        ),
        sqlite3.SQLITE_CORRUPT: (
            f"damaged ({error})",
            "copy it to a safe place before anything else; `vidya doctor` says how far it goes",
        ),
        sqlite3.SQLITE_READONLY: (
            "cannot be written",
            "check who may write there, or name another home with --home",
        ),
        sqlite3.SQLITE_CANTOPEN: (
            "cannot be opened",
            "check who may write there, or name another home with --home",
        ),
        sqlite3.SQLITE_IOERR: (
            f"the disk failed ({error})",
            "check the disk and do it again; what was taken before is safe",
        ),
    }.get(_code(error), (str(error), "`vidya doctor` checks the journal"))
    return JournalError(f"{path}: {what}", next_step)


def insert_row(connection: sqlite3.Connection, table: str, **values: object) -> int:
    """Appends a row; its id."""
    marks = ", ".join("?" * len(values))
    sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
    return connection.execute(sql, tuple(values.values())).lastrowid or 0


def must_exist(connection: sqlite3.Connection, table: str, number: int, name: str) -> None:
    """Raises NotFound where the table has no row of that id."""
    if connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is None:
        raise NotFound(f"{name} {number} is not in the journal", "it may be forgotten")
