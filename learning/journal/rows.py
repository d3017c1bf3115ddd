"""Converts records (learning.protocol.records) to rows of the journal's tables, and back.

Pure functions. Left out: the SQL that reads and writes the rows.
"""

from __future__ import annotations

import json
import struct
from dataclasses import fields
from typing import Any

from engine.config import Sampling
from learning.journal.database import Row
from learning.protocol.records import (
    Again,
    Ask,
    Candidate,
    Correction,
    Judgement,
    Lesson,
    Pick,
    Rating,
    Span,
    Turn,
    Turns,
    Understanding,
    as_turns,
)
from learning.text.normalise import writable

ASK_COLUMNS = "id, conversation, history, message, sampling, seed, created, parent, old, reason"
BRANCHES = """SELECT id, parent, CASE WHEN parent IS NULL THEN json_array_length(history) + 1 END
    FROM asks WHERE conversation = ? ORDER BY id"""
"""SQL for the rows of a ConversationTree. The index asks_conversation covers all of it but the histories of
the roots, which are short."""
NEWEST_SHORTER = """SELECT max(id) FROM asks
    WHERE conversation = ? AND json_array_length(history) = ? - 3"""
"""SQL for an ask's default parent; parameters: conversation, number of turns of the ask."""
CANDIDATE_COLUMNS = "ask, number, text, tokens, logprobs, ending, version, certainty, offered"
LESSON_COLUMNS = (
    "id, judgement, kind, prompt, answer, rejected, weight, replaces, state, blamed_from, blamed_to"
)

UNDERSTANDING = (*(field.name for field in fields(Understanding)), "measured")
"""Columns of a lesson that describe weights: the figures of Understanding, and when they were measured."""


def turns_to_json(turns: Turns) -> str:
    return json.dumps(turns, ensure_ascii=False)


def turns_from_json(text: str) -> Turns:
    return as_turns(json.loads(text))


def ask_from_row(row: Row) -> Ask:
    number, conversation, history, message, sampling, seed, created, parent, old, reason = row
    turns = (*turns_from_json(history), Turn("user", message))
    drawn = Sampling(**json.loads(sampling))
    again = Again(old, reason) if old and reason else None
    return Ask(number, conversation, turns, drawn, seed, created, parent, again)


def candidate_values(candidate: Candidate) -> dict[str, object]:
    """Columns in the order of CANDIDATE_COLUMNS."""
    tokens, logprobs = candidate.tokens, candidate.logprobs
    return {
        "ask": candidate.ask,
        "number": candidate.index,
        "text": writable(candidate.text),
        "tokens": struct.pack(f"<{len(tokens)}I", *tokens),
        "logprobs": struct.pack(f"<{len(logprobs)}d", *logprobs),
        "ending": candidate.ending,
        "version": candidate.version,
        "certainty": candidate.certainty,
        "offered": candidate.offered,
    }


def candidate_from_row(row: Row) -> Candidate:
    ask, number, text, tokens, logprobs, ending, version, certainty, offered = row
    return Candidate(
        ask,
        number,
        text,
        struct.unpack(f"<{len(tokens) // 4}I", tokens),
        struct.unpack(f"<{len(logprobs) // 8}d", logprobs),
        ending,
        version,
        certainty,
        bool(offered),
    )


def mean_logprob(packed: bytes) -> float:
    """Mean log-probability of a candidate's tokens in nats. packed: the column `logprobs`, not empty."""
    numbers = struct.unpack(f"<{len(packed) // 8}d", packed)
    return sum(numbers) / len(numbers)


def judgement_values(judgement: Judgement) -> dict[str, object]:
    if isinstance(judgement, Pick):
        return {"kind": "pick", "number": judgement.index, "reason": judgement.reason}
    if isinstance(judgement, Correction):
        return {"kind": "correction", "number": judgement.index, "text": writable(judgement.text)}
    return {
        "kind": "rating",
        "value": judgement.value,
        "reason": judgement.reason,
        **blame_values(judgement.blame),
    }


def judgement_from_row(
    ask: int,
    kind: str,
    number: int | None,
    text: str | None,
    value: Any,
    reason: str | None = None,
    blamed_from: int | None = None,
    blamed_to: int | None = None,
) -> Judgement:
    if kind == "pick":
        return Pick(ask, number or 0, reason)
    if kind == "correction":
        return Correction(ask, text or "", number)
    return Rating(ask, value, reason, _span(blamed_from, blamed_to))


def blame_values(blame: Span | None) -> dict[str, object]:
    """The columns of the blamed part of an answer."""
    start, end = blame or (None, None)
    return {"blamed_from": start, "blamed_to": end}


def _span(start: int | None, end: int | None) -> Span | None:
    return None if start is None or end is None else (start, end)


def lesson_from_row(row: Row) -> Lesson:
    number, judgement, kind, prompt, answer, rejected, weight, replaces, state, *blamed = row
    return Lesson(
        kind=kind,
        prompt=turns_from_json(prompt),
        answer=answer,
        rejected=tuple(json.loads(rejected)),
        weight=weight,
        id=number,
        judgement=judgement,
        state=state,
        replaces=replaces,
        blame=_span(*blamed),
    )
