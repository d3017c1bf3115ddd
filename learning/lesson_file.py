"""Files of lessons, one JSON object a line, as `vidya teach --file` and `evaluate` read them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.errors import DataError
from learning.json_lines import parse
from learning.records import Lesson, Turn

_FORMS = 'give {"prompt","answer"}, {"prompt","chosen","rejected"}, {"prompt","answer","rating"} or {"turns"}'


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a JSON-lines file. Raises DataError with file and line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error})", "give a UTF-8 file of JSON lines"
        ) from error
    return parse_rows(data, str(path))


def parse_rows(data: bytes, name: str) -> list[dict[str, Any]]:
    """Rows of JSON lines; blank ones are skipped. Raises DataError with name and line."""
    rows = [row | {"_line": number} for number, row in parse(data, name, _FORMS)]
    if not rows:
        raise DataError(f"{name}: holds no lines", _FORMS)
    return rows


def read_lessons(path: Path) -> list[Lesson]:
    """Lessons of a file, in order. Raises DataError with file and line."""
    return to_lessons(read_rows(path), str(path))


def to_lessons(rows: Iterable[dict[str, Any]], name: str) -> list[Lesson]:
    """Checks and converts rows of `parse_rows`."""
    lessons = []
    for row in rows:
        try:
            lessons.append(_lesson(row))
        except (KeyError, TypeError, ValueError) as error:
            what = f"has no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{name}:{row.get('_line', '?')}: {what}", _FORMS) from error
    return lessons


def check_paraphrases(rows: Iterable[dict[str, Any]], name: str) -> None:
    """Of rows that are to be measured; teaching ignores the key. Raises DataError."""
    for row in rows:
        try:
            _text(row.get("paraphrase", "none"), "paraphrase")
        except ValueError as error:
            next_step = "write the question in other words, or leave it out"
            raise DataError(f"{name}:{row['_line']}: {error}", next_step) from error


def _lesson(row: dict[str, Any]) -> Lesson:
    if "turns" in row:
        if not isinstance(row["turns"], list) or not all(isinstance(t, dict) for t in row["turns"]):
            raise ValueError('turns must be a list of {"role","text"}')
        turns = tuple(Turn(t["role"], _text(t["text"], "text")) for t in row["turns"])
        roles = [turn.role for turn in turns]
        if len(turns) < 2 or roles != ["user", "assistant"] * (len(turns) // 2):
            raise ValueError("turns must alternate user and assistant and end with the assistant")
        return Lesson("example", turns[:-1], turns[-1].text)
    prompt = (Turn("user", _text(row["prompt"], "prompt")),)
    if "chosen" in row:
        rejected = row.get("rejected", [])
        if not isinstance(rejected, list):
            raise ValueError("rejected must be a list of texts")
        return Lesson(
            "pick",
            prompt,
            _text(row["chosen"], "chosen"),
            tuple(_text(r, "rejected") for r in rejected),
        )
    answer = _text(row["answer"], "answer")
    rating = row.get("rating")
    if rating is None:
        return Lesson("example", prompt, answer)
    if rating == "good":
        return Lesson("rating", prompt, answer, weight=0.5)
    if rating == "bad":
        return Lesson("rating", prompt, "", (answer,), weight=0.5)
    raise ValueError(f'rating is {rating!r}, not "good" or "bad"')


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value.strip()
