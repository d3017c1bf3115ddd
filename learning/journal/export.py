"""Exports the whole journal as plain rows; learning.journal.importing reads them back."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

from learning.journal.database import Store
from learning.journal.rows import UNDERSTANDING
from learning.journal.standing import stands

TABLES: dict[str, tuple[str, ...]] = {
    "conversations": ("id", "created", "title"),
    "asks": (
        *("id", "conversation", "history", "message", "sampling", "seed", "created", "parent"),
        *("old", "reason"),
    ),
    "candidates": (
        *("ask", "number", "text", "tokens", "logprobs", "ending", "version", "created"),
        *("certainty", "offered"),
    ),
    "judgements": (
        *("id", "ask", "kind", "number", "text", "value", "answer", "created", "reason"),
        *("blamed_from", "blamed_to"),
    ),
    "withdrawals": ("judgement", "created"),
    "answers": ("ask", "judgement", "text", "created"),
    "lessons": (
        *("id", "ask", "judgement", "kind", "prompt", "answer", "rejected", "weight"),
        *("replaces", "state", "created", "blamed_from", "blamed_to"),
        *UNDERSTANDING,
    ),
    "retractions": ("lesson", "created"),
    "lesson_events": ("lesson", "state", "created"),
    "steps": ("id", "kind", "loss", "batch", "seconds", "model", "created"),
    "step_lessons": ("step", "lesson"),
    "publications": ("version", "parent", "path", "note", "created"),
    "publication_lessons": ("version", "lesson"),
    "saves": ("version", "created"),
    "measures": ("name", "value", "model", "created"),
    "practices": ("id", "task", "record", "outcome", "created"),
    "practice_steps": ("practice", "step", "figures", "created"),
    "practice_samples": (
        *("practice", "step", "problem", "text", "reward", "components", "failed", "created"),
        "truncated",
    ),
}
"""The exported columns of each table. A table comes after the tables that it refers to."""
JSON_COLUMNS = ("history", "sampling", "prompt", "rejected")
PACKED = {"tokens": ("I", 4), "logprobs": ("d", 8)}
"""Columns with packed little-endian arrays: (struct code, bytes a number)."""


def export_rows(store: Store) -> Iterator[dict[str, Any]]:
    """One dict for each row: the table's name under "table", then its columns as JSON values. A table comes
    after the tables that it refers to."""
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
    """Preference pairs in TRL's conversational format (`prompt`, `chosen`, `rejected`), one row for each
    rejected text of a lesson in effect that has an answer.
    """
    for prompt, answer, rejected in store.rows(
        f"""SELECT prompt, answer, rejected FROM lessons
        WHERE answer != '' AND kind != 'reason' AND {stands()} ORDER BY id"""
    ):
        for text in json.loads(rejected):
            yield {
                "prompt": [{"role": role, "content": said} for role, said in json.loads(prompt)],
                "chosen": [{"role": "assistant", "content": answer}],
                "rejected": [{"role": "assistant", "content": text}],
            }
