"""Imports the export of another journal: adds rows that are missing here, under new ids.

A row is recognised by its creation time, to the microsecond, and by the row that it belongs to. So importing
the same export twice adds nothing, and a later export of the same journal adds what is new: messages,
judgements and withdrawals of a conversation that was continued elsewhere. A row that is missing here, belongs
to an ask that exists here and is older than the ask's other rows of that table is skipped: it was dropped or
erased here. Steps, versions and measures are not imported, because they describe other weights.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Iterable
from typing import Any, get_args

from engine.config import Sampling
from engine.errors import ConfigError, DataError
from learning.journal.database import Store
from learning.journal.export import JSON_COLUMNS, PACKED, TABLES
from learning.journal.rows import NEWEST_SHORTER, UNDERSTANDING
from learning.protocol.records import Ending, LessonKind, LessonState, Role

KEYS: dict[str, tuple[str, ...]] = {
    "conversations": ("created",),
    "asks": ("conversation", "created"),
    "candidates": ("ask", "number", "created"),
    "judgements": ("ask", "created"),
    "withdrawals": ("judgement",),
    "answers": ("ask", "created"),
    "lessons": ("ask", "judgement", "created", "answer"),
    "retractions": ("lesson",),
}
"""The imported tables, each after the tables that it refers to, with the columns that identify a row."""
LINKS = {
    "conversation": "conversations",
    "ask": "asks",
    "parent": "asks",
    "judgement": "judgements",
    "lesson": "lessons",
}
"""Columns with ids of other rows, which get new values here, and the tables of those rows."""
CONVERSATION = {
    "ask": "SELECT conversation FROM asks WHERE id = ?",
    "judgement": "SELECT conversation FROM judgements j JOIN asks ON asks.id = ask WHERE j.id = ?",
    "lesson": "SELECT conversation FROM lessons l JOIN asks ON asks.id = ask WHERE l.id = ?",
}
"""SQL for the conversation of a row, by the column that refers to the row's parent."""
ADDED = ("title", "certainty", "offered", "old", "reason", "blamed_from", "blamed_to")
"""Columns that exports of earlier versions lack."""
OPTIONAL = (
    *("ask", "judgement", "parent", "number", "text", "value", "seed", "replaces"),
    *ADDED,
)
"""Columns that may be NULL."""
NAMES: dict[str, tuple[str, ...]] = {
    "kind": ("pick", "correction", "rating", *get_args(LessonKind)),
    "state": get_args(LessonState),
    "ending": get_args(Ending),
    "value": ("good", "bad"),
}
BAD_ROW = (
    *(ArithmeticError, AttributeError, KeyError, TypeError, ValueError, struct.error),
    *(ConfigError, sqlite3.IntegrityError),
)
"""Exceptions that an invalid row causes."""
YEAR_10000 = 253_402_300_800.0
"""In seconds since the epoch. Python's datetime cannot show later times."""


def import_rows(store: Store, rows: Iterable[dict[str, Any]], name: str = "row ") -> int:
    """Adds conversations and lessons that are missing here. Lessons that were not undone become "waiting".

    Returns the number of conversations that were added or extended, plus the number of lessons without a
    conversation that were added or taken back. Raises DataError for an invalid row, named by `name` and its
    "line" or position; nothing is added then.
    """
    with store.writing() as connection:
        reader = _Import(connection)
        for place, row in enumerate(rows, start=1):
            try:
                reader.add(dict(row))
            except BAD_ROW as error:
                where, why = row.get("line", place), f"{type(error).__name__}: {error}"
                raise DataError(
                    f"{name}{where}: not from a journal's export ({why})",
                    "export it again with `vidya journal export`; nothing was added",
                ) from error
    return len(reader.loose) + len(reader.changed)


class _Import:
    """The import of one file, inside the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, dict[int, int]] = {table: {} for table in KEYS}
        """By table: id in the export -> id here."""
        self._added: dict[str, set[int]] = {table: set() for table in KEYS}
        """By table: ids here of rows that this import added."""
        self._asks: dict[tuple[int, float], int] = {}
        """(conversation, created) -> ask, for conversations that existed before. A query for each ask would
        read all histories every time."""
        self.changed: set[int] = set()
        """Conversations that were added or extended."""
        self.loose: set[int] = set()
        """Lessons without a conversation that were added or taken back."""

    def add(self, row: dict[str, Any]) -> None:
        """Adds a row if it is missing here. Raises one of BAD_ROW for an invalid row."""
        table = row["table"]
        columns = TABLES[table]
        if table not in KEYS:
            return
        unknown = table == "asks" and "parent" not in row  # an export from before branches existed
        if unknown:
            row["parent"] = None
        row = dict.fromkeys(ADDED) | row
        values = {
            column: _checked(column, row[column])
            for column in columns
            if column not in ("id", *UNDERSTANDING)
        }
        theirs = _checked("id", row["id"]) if "id" in columns else None
        for column, target in LINKS.items():
            if values.get(column) is not None:
                if values[column] not in self._numbers[target]:
                    return  # it belongs to a row that was skipped
                values[column] = self._numbers[target][values[column]]
        new = any(
            values.get(column) in self._added[target]
            for column, target in LINKS.items()
            if column != "parent"
        )
        ours = None if new else self._here(table, values)
        if ours is None:
            if not new and self._left_out(table, values):
                return
            if table == "lessons" and not values["prompt"] and values["kind"] != "owner_words":
                raise ValueError("prompt is empty")
            if table == "asks" and not self._follows(values):
                values["parent"] = None
            if unknown:
                shorter = (values["conversation"], len(values["history"]) + 1)
                values["parent"] = self._connection.execute(NEWEST_SHORTER, shorter).fetchone()[0]
            ours = self._insert(table, values)
            self._added[table].add(ours)
            self._count(table, values, ours)
        if theirs is not None:
            self._numbers[table][theirs] = ours

    def _here(self, table: str, values: dict[str, Any]) -> int | None:
        """The id of the same row in this journal; None if it is missing."""
        if table == "asks":
            return self._asks.get((values["conversation"], values["created"]))
        same = " AND ".join(f"{column} IS :{column}" for column in KEYS[table])
        key = {column: values[column] for column in KEYS[table]}
        found = self._connection.execute(f"SELECT rowid FROM {table} WHERE {same}", key).fetchone()
        if found and table == "conversations":
            sql = "SELECT conversation, created, id FROM asks WHERE conversation = ?"
            self._asks |= {(one, at): ask for one, at, ask in self._connection.execute(sql, found)}
        return int(found[0]) if found else None

    def _left_out(self, table: str, values: dict[str, Any]) -> bool:
        """Whether a missing row must be skipped: its ask exists here and has a newer row of the same
        table."""
        if values.get("ask") is None:
            return False
        newest = f"SELECT max(created) FROM {table} WHERE ask = ?"
        (created,) = self._connection.execute(newest, (values["ask"],)).fetchone()
        return created is not None and values["created"] < created

    def _follows(self, values: dict[str, Any]) -> bool:
        """Whether an ask is in its parent's conversation and two turns longer, as the tree of a conversation
        relies on."""
        sql = "SELECT conversation, json_array_length(history) + 2 FROM asks WHERE id = ?"
        found = self._connection.execute(sql, (values["parent"],)).fetchone()
        return bool(found == (values["conversation"], len(values["history"])))

    def _insert(self, table: str, values: dict[str, Any]) -> int:
        if table == "lessons" and values["state"] != "undone":
            values["state"] = "waiting"
        for column in JSON_COLUMNS:
            if column in values:
                values[column] = json.dumps(values[column], ensure_ascii=False)
        for column, (code, _) in PACKED.items():
            if column in values:
                values[column] = struct.pack(f"<{len(values[column])}{code}", *values[column])
        number = self._connection.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        ).lastrowid
        assert number is not None
        if table == "lessons":
            self._connection.execute(
                "INSERT INTO lesson_events (lesson, state, created) VALUES (?, ?, ?)",
                (number, values["state"], values["created"]),
            )
        return number

    def _count(self, table: str, values: dict[str, Any], number: int) -> None:
        """Records the conversation or lesson that an added row belongs to, for the returned count."""
        conversation = number if table == "conversations" else values.get("conversation")
        for column, sql in CONVERSATION.items():
            if conversation is None and values.get(column) is not None:
                found = self._connection.execute(sql, (values[column],)).fetchone()
                conversation = found[0] if found else None
        if conversation is not None:
            self.changed.add(conversation)
        else:
            self.loose.add(values.get("lesson", number))


def _checked(column: str, value: Any) -> Any:
    """The value, if it is valid for the column; the rows are untrusted. Raises ValueError otherwise."""
    if value is None and column in OPTIONAL:
        return None
    if column in NAMES:
        good = value in NAMES[column]
    elif column in ("history", "prompt"):
        good = isinstance(value, list)
        good = good and all(r in get_args(Role) and isinstance(said, str) for r, said in value)
    elif column in ("tokens", "logprobs", "rejected"):
        kind = {"tokens": int, "logprobs": float, "rejected": str}[column]
        good = isinstance(value, list) and all(isinstance(one, kind) for one in value)
    elif column == "sampling":
        good = all(isinstance(one, int | float) for one in Sampling(**value).to_dict().values())
    elif column == "created":
        good = isinstance(value, float) and 0 <= value < YEAR_10000
    elif column == "certainty":
        good = isinstance(value, float) and 0.0 <= value <= 1.0
    elif column == "offered":
        good = value in (0, 1)
    elif column == "weight":
        good = isinstance(value, float) and 0.0 < value < math.inf
    elif column in ("message", "text", "answer", "replaces", "title", "old", "reason"):
        good = isinstance(value, str)
    else:
        good = isinstance(value, int) and abs(value) < 2**63
    if not good:
        raise ValueError(f"{column} is {str(value)[:40]!r}")
    return value
