"""The journal's connection to SQLite: opening, transactions, and readable errors.

One connection behind one lock serves all threads of a process; other processes share the file through
SQLite's write-ahead log (WAL). With `synchronous=FULL` a transaction is on disk when it returns. On a full
disk SQLite cannot create the shared-memory file that WAL needs; then each block opens a connection of its
own, which can read, and writing works again as soon as there is room. A damaged full-text index is rebuilt.
Left out: what the tables mean.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.errors import JournalError, NotFound
from engine.storage.disk import free_bytes, full_disk, is_full
from learning.journal import search_index
from learning.journal.migrations import migrate, seen_steps
from learning.text.normalise import fold_spaces

Row = tuple[Any, ...]
ROOM = 10_000_000
"""Free bytes that the message about a full disk asks for. The log grows to half of that."""
_SHARING = 65_536
"""With less free space than this, in bytes, an I/O error is reported as a full disk."""


class _Connection(sqlite3.Connection):
    """A connection that rebuilds the full-text index if a statement fails because it is damaged, and then
    runs the statement again."""

    _busy = False
    """True while the index is being rebuilt."""

    def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
        return self._mending(lambda: super(_Connection, self).execute(sql, values))

    def executemany(self, sql: str, rows: Any, /) -> sqlite3.Cursor:
        rows = list(rows)
        return self._mending(lambda: super(_Connection, self).executemany(sql, rows))

    def _mending(self, work: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not search_index.concerns_index(error) or self._busy:
                raise
            self._busy = True
            try:
                if search_index.whole(self):
                    raise
                search_index.make_anew(self)
                return work()
            except sqlite3.Error:
                raise error from None
            finally:
                self._busy = False


class Store:
    """An open journal file with the newest schema."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the file. Raises JournalError, and then leaves the file as it was."""
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._next_try = 0.0
        """On a full disk: the time.monotonic() at which to try a shared connection again."""
        with self._errors():
            if path.is_symlink() and not path.exists():
                raise JournalError(
                    f"{path}: a link to {os.readlink(path)}, where nothing is",
                    "connect the disk that it leads to, or remove the link to begin a new journal",
                )
            if not path.exists():
                # before SQLite creates it, because only the owner may read it
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            if not path.is_file():
                raise JournalError(
                    f"{path}: cannot be opened (it is no file)",
                    "move it away, or name another home with --home",
                )
            with self._opened():
                pass

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The connection; on a full disk a new one for this block, which can only read."""
        if self._connection is not None:
            yield self._connection
            return
        if time.monotonic() >= self._next_try or self._log():
            try:
                self._connection = self._connect()
            except sqlite3.Error as error:
                if not _full(error, self.path):
                    raise
                self._next_try = time.monotonic() + 1.0
        if self._connection is not None:
            yield self._connection
            return
        try:
            alone = self._connection = self._connect(alone=True)
            try:
                yield alone
            finally:
                self._connection = None
                alone.close()
        except sqlite3.Error as error:
            if _code(error) != sqlite3.SQLITE_READONLY:
                raise
            raise sqlite3.OperationalError("database or disk is full") from error

    def _log(self) -> bool:
        """Whether SQLite's log is not empty, so that the file alone may be out of date."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return log.exists() and log.stat().st_size > 0

    def _connect(self, *, alone: bool = False) -> sqlite3.Connection:
        """alone: do not use the shared-memory file. This is safe while no process can write; if there is a
        log to read, it needs exclusive access to the journal."""
        still = alone and not self._log()
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self.path))}{'?mode=ro&immutable=1' if still else ''}",
            timeout=5.0,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
            uri=True,
        )
        try:
            if alone and not still:  # SQLite then keeps the shared-memory file's content in memory
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._prepare(connection, still)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection, still: bool = False) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        # erased rows must not remain in free pages or temporary files
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA synchronous = FULL")
        connection.create_function("contains", 2, _contains, deterministic=True)
        connection.create_function("stripped", 1, _stripped, deterministic=True)
        seen_steps(connection, self.path)  # first, so that a file that is refused stays unchanged
        if not still:
            _set_wal(connection)
        migrate(connection, self.path)
        if not search_index.readable(connection):
            with contextlib.suppress(
                sqlite3.Error
            ):  # other tables work; a search raises its own error
                search_index.make_anew(connection)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns errors of SQLite and of the system into JournalError."""
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self.path) from error
        except OverflowError as error:
            raise JournalError(
                f"{self.path}: a number too large for the journal", "name one below 2^63"
            ) from error
        except OSError as error:
            if is_full(error):
                raise JournalError(*full_disk(self.path, ROOM)) from error
            raise JournalError(
                f"{self.path}: cannot be opened ({error.strerror})",
                "check who may write there, or name another home with --home",
            ) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, locked against other threads. Raises JournalError."""
        with self._lock, self._errors():
            if self._closed:
                raise JournalError(f"{self.path}: the journal is closed", "open it again")
            with self._opened() as connection:
                yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: it is on disk when the block ends, or rolled back if the block raises. Raises
        JournalError."""
        self._next_try = 0.0
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
        """All rows of a query. Raises JournalError."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Row | None:
        """The first row of a query; None if it has none. Raises JournalError."""
        with self.reading() as connection:
            row: Row | None = connection.execute(sql, values).fetchone()
            return row

    def integrity(self) -> str:
        """ "ok", or the first fault that SQLite's integrity check finds. Raises nothing."""
        try:
            rows = self.rows("PRAGMA integrity_check(1)")
            broken = self.rows("PRAGMA foreign_key_check")
        except JournalError as error:
            return str(error)
        if rows[0][0] == "ok" and broken:
            return f"rows that point at rows that are gone: {len(broken)}, first in {broken[0][0]}"
        return str(rows[0][0])

    def mend_index(self) -> bool:
        """Checks the whole full-text index, and rebuilds it if it is damaged. Returns whether it was."""
        with self.reading() as connection:
            if search_index.whole(connection):
                return False
            search_index.make_anew(connection)
            return True

    def close(self) -> None:
        """Closes the file; every later call raises JournalError. Closing twice is fine."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _contains(text: str | None, wanted: str) -> bool:
    """SQL function: whether the text contains `wanted`, ignoring case and kinds of white space. `wanted` must
    be folded (learning.text.normalise.fold_spaces)."""
    return text is not None and wanted in fold_spaces(text)


def _stripped(text: str | None) -> str | None:
    """SQL function: the text without any white space around it. SQL's `trim` takes only blanks away."""
    return text.strip() if text is not None else None


def _set_wal(connection: sqlite3.Connection) -> None:
    """Switches the file to WAL. SQLite does not wait for the exclusive lock that this needs, so this
    retries for five seconds."""
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
    """SQLite's primary result code; 0 if the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _full(error: sqlite3.Error, path: Path) -> bool:
    """Whether the error is due to a full disk. SQLite reports a shared-memory file that it cannot create as
    an I/O error, so with little free space an I/O error counts as well."""
    if is_full(error):
        return True
    free = free_bytes(path)
    return _code(error) == sqlite3.SQLITE_IOERR and free is not None and free < _SHARING


def _explain(error: sqlite3.Error, path: Path) -> JournalError:
    if _full(error, path):
        what, next_step = full_disk(path, ROOM)
        return JournalError(what, f"{next_step}; what was taken before is safe")
    what, next_step = {
        sqlite3.SQLITE_BUSY: (
            "another program is writing to it",
            "wait a moment and do it again",
        ),
        sqlite3.SQLITE_NOTADB: (
            "not a journal, or its beginning is overwritten",
            "move it away, or name another home with --home",
        ),
        sqlite3.SQLITE_CORRUPT: (
            f"damaged ({error})",
            "copy it to a safe place before anything else",
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
    """Appends a row, and returns its id."""
    marks = ", ".join("?" * len(values))
    sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
    return connection.execute(sql, tuple(values.values())).lastrowid or 0


def must_exist(connection: sqlite3.Connection, table: str, number: int, name: str) -> None:
    """Raises NotFound if the table has no row with that id. name: what the message calls the row."""
    if connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is None:
        raise NotFound(f"{name} {number} is not in the journal", "it may be forgotten")


def chosen(
    store: Store, table: str, columns: str, numbers: Collection[int], where: str = "1"
) -> list[Row]:
    """Columns of the rows with these numbers for which `where` is true."""
    sql = f"SELECT {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(?)) AND {where}"
    return store.rows(sql, json.dumps([*numbers]))
