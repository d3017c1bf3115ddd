"""The journal as plain rows for other programs, and reading such rows back in.

Everything comes out; what another journal's weights did (steps, versions, measures) does not go
back in, because it says nothing about the weights of the home that reads it.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from engine.config import Sampling
from engine.errors import ConfigError, DataError
from learning.journal_rows import NEWEST_SHORTER
from learning.records import Ending, LessonKind, LessonState, Role
from learning.store import Store

TABLES: dict[str, tuple[str, ...]] = {
    "conversations": ("id", "created", "title"),
    "asks": ("id", "conversation", "history", "message", "sampling", "seed", "created", "parent"),
    "candidates": ("ask", "number", "text", "tokens", "logprobs", "ending", "version", "created"),
    "judgements": ("id", "ask", "kind", "number", "text", "value", "answer", "created"),
    "withdrawals": ("judgement", "created"),
    "answers": ("ask", "judgement", "text", "created"),
    "lessons": (
        *("id", "ask", "judgement", "kind", "prompt", "answer", "rejected", "weight"),
        *("replaces", "state", "created"),
    ),
    "retractions": ("lesson", "created"),
    "lesson_events": ("lesson", "state", "created"),
    "steps": ("id", "kind", "loss", "batch", "seconds", "created"),
    "step_lessons": ("step", "lesson"),
    "publications": ("version", "parent", "path", "note", "created"),
    "publication_lessons": ("version", "lesson"),
    "saves": ("version", "created"),
    "measures": ("name", "value", "created"),
}
"""Columns of each table, a table after those it points to."""
IMPORTED = (
    "conversations",
    "asks",
    "candidates",
    "judgements",
    "withdrawals",
    "answers",
    "lessons",
    "retractions",
)
LINKS = {
    "conversation": "conversations",
    "ask": "asks",
    "parent": "asks",
    "judgement": "judgements",
    "lesson": "lessons",
}
"""Columns that hold a number which is another one in the journal that reads."""
OPTIONAL = (
    *("ask", "judgement", "parent", "number", "text", "value", "seed", "replaces", "title"),
)
ADDED = ("title",)
"""Columns that exports of earlier versions lack."""
NAMES: dict[str, tuple[str, ...]] = {
    "kind": ("pick", "correction", "rating", *get_args(LessonKind)),
    "state": get_args(LessonState),
    "ending": get_args(Ending),
    "value": ("good", "bad"),
}
JSON_COLUMNS = ("history", "sampling", "prompt", "rejected")
BAD_ROW = (
    *(ArithmeticError, AttributeError, KeyError, TypeError, ValueError, struct.error),
    *(ConfigError, sqlite3.IntegrityError),
)
"""What a row that no journal wrote brings about."""
YEAR_10000 = 253_402_300_800.0
"""In seconds since the epoch; no calendar shows what is later."""
PACKED = {"tokens": ("I", 4), "logprobs": ("d", 8)}


def export_rows(store: Store) -> Iterator[dict[str, Any]]:
    """One dict a row: its table under "table", then its columns, texts and numbers only."""
    for table, columns in TABLES.items():
        for row in store.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"):
            values = dict(zip(columns, row, strict=True))
            for column in JSON_COLUMNS:
                if column in values:
                    values[column] = json.loads(values[column])
            for column, (code, size) in PACKED.items():
                if column in values:
                    blob = values[column]
                    values[column] = list(struct.unpack(f"<{len(blob) // size}{code}", blob))
            yield {"table": table, **values}


def export_trl(store: Store) -> Iterator[dict[str, Any]]:
    """Preferences in TRL's conversational form, one row for each text that was not wanted.

    Only lessons that stand and have both an answer and rejected texts can be such rows.
    """
    for prompt, answer, rejected in store.rows(
        """SELECT prompt, answer, rejected FROM lessons WHERE state != 'undone' AND answer != ''
        AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.judgement = lessons.judgement)
        AND NOT EXISTS (SELECT 1 FROM retractions r WHERE r.lesson = lessons.id)
        ORDER BY id"""
    ):
        for text in json.loads(rejected):
            yield {
                "prompt": [{"role": role, "content": said} for role, said in json.loads(prompt)],
                "chosen": [{"role": "assistant", "content": answer}],
                "rejected": [{"role": "assistant", "content": text}],
            }


def import_rows(store: Store, rows: Iterable[dict[str, Any]], name: str = "row ") -> int:
    """Adds the conversations and lessons of another journal under new numbers.

    A conversation or a loose lesson that is here already is passed over, so importing twice adds
    nothing. Lessons that were not undone wait to be learned here. Returns how many conversations
    and loose lessons were added. Raises DataError for rows that no export has, with `name` and the
    number of the row (its "line", where it says one); nothing is added then.
    """
    numbers: dict[str, dict[int, int]] = {table: {} for table in IMPORTED}
    added = 0
    with store.writing() as connection:
        for place, row in enumerate(rows, start=1):
            try:
                added += _import(connection, dict(row), numbers)
            except BAD_ROW as error:
                where, why = row.get("line", place), f"{type(error).__name__}: {error}"
                raise DataError(
                    f"{name}{where}: not from a journal's export ({why})",
                    "export it again with `vidya journal export`; nothing was added",
                ) from error
    return added


def _import(
    connection: sqlite3.Connection, row: dict[str, Any], numbers: dict[str, dict[int, int]]
) -> int:
    """Adds one row; 1 where it is a conversation or a loose lesson."""
    table = row["table"]
    columns = TABLES[table]
    if table not in IMPORTED:
        return 0
    unknown = table == "asks" and "parent" not in row  # an export from before there were branches
    if unknown:
        row["parent"] = None
    row = dict.fromkeys(ADDED) | row
    values = {column: _checked(column, row[column]) for column in columns if column != "id"}
    for column, target in LINKS.items():
        if values.get(column) is not None:
            if values[column] not in numbers[target]:
                return 0  # it hangs on something that was passed over
            values[column] = numbers[target][values[column]]
    if _is_here(connection, table, values):
        return 0
    if unknown:
        shorter = (values["conversation"], len(values["history"]) + 1)
        values["parent"] = connection.execute(NEWEST_SHORTER, shorter).fetchone()[0]
    if table == "lessons" and values["state"] != "undone":
        values["state"] = "waiting"
    for column in JSON_COLUMNS:
        if column in values:
            values[column] = json.dumps(values[column], ensure_ascii=False)
    for column, (code, _) in PACKED.items():
        if column in values:
            values[column] = struct.pack(f"<{len(values[column])}{code}", *values[column])
    number = connection.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        tuple(values.values()),
    ).lastrowid
    if "id" in columns:
        numbers[table][_checked("id", row["id"])] = number or 0
    if table == "lessons":
        connection.execute(
            "INSERT INTO lesson_events (lesson, state, created) VALUES (?, ?, ?)",
            (number, values["state"], values["created"]),
        )
    return int(table == "conversations" or (table == "lessons" and values["ask"] is None))


def _checked(column: str, value: Any) -> Any:
    """The value, if a journal could have written it. Raises ValueError: rows are from outside."""
    if value is None and column in OPTIONAL:
        return None
    if column in NAMES:
        good = value in NAMES[column]
    elif column in ("history", "prompt"):
        good = all(role in get_args(Role) and isinstance(said, str) for role, said in value)
    elif column in ("tokens", "logprobs", "rejected"):
        kind = {"tokens": int, "logprobs": float, "rejected": str}[column]
        good = isinstance(value, list) and all(isinstance(one, kind) for one in value)
    elif column == "sampling":
        good = all(isinstance(one, int | float) for one in Sampling(**value).to_dict().values())
    elif column == "created":
        good = isinstance(value, float) and 0 <= value < YEAR_10000
    elif column == "weight":
        good = isinstance(value, float) and math.isfinite(value)
    elif column in ("message", "text", "answer", "replaces", "title"):
        good = isinstance(value, str)
    else:
        good = isinstance(value, int) and abs(value) < 2**63
    if not good:
        raise ValueError(f"{column} is {str(value)[:40]!r}")
    return value


def _is_here(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> bool:
    """Conversations and loose lessons are known by when they began, to the microsecond."""
    if table == "conversations":
        sql = "SELECT 1 FROM conversations WHERE created = :created"
    elif table == "lessons" and values["ask"] is None:
        sql = "SELECT 1 FROM lessons WHERE ask IS NULL AND created = :created AND answer = :answer"
    else:
        return False
    return connection.execute(sql, values).fetchone() is not None
