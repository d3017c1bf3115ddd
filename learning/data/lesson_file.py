"""Reads files of lessons (JSON lines) for `vidya teach --file` and `vidya evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import DataError, VidyaError, reason
from learning.data.json_lines import parse
from learning.protocol.records import Lesson, Span, Turn, Turns
from learning.text.blame import from_words
from learning.text.key import Key, holds, read_key

_FORMS = 'give {"prompt","answer"}, {"prompt","chosen","rejected"}, {"prompt","answer","rating"} or {"turns"}'

ADVICE = "give a UTF-8 file of JSON lines"
"""The next step where a file cannot be read."""

NAMED_LINES = 8
"""Most further wrong lines that an error names."""


def read_rows(path: Path, forms: str = _FORMS) -> list[dict[str, Any]]:
    """All rows of a file, as from `parse_rows`. Raises DataError with file and line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({reason(error)})", ADVICE) from error
    return parse_rows(data, str(path), forms)


def parse_rows(data: bytes, name: str, forms: str = _FORMS) -> list[dict[str, Any]]:
    """All rows of JSON lines, each with its line number under "_line". Skips blank lines.

    forms: the forms of a line that errors advise. Raises DataError with name and line, also if there are no
    rows.
    """
    rows = [row | {"_line": number} for number, row in parse(data, name, forms)]
    if not rows:
        raise DataError(f"{name}: holds no lines", forms)
    return rows


def read_lessons(path: Path) -> list[Lesson]:
    """All lessons of a file, in order. Raises DataError with file and line."""
    return to_lessons(read_rows(path), str(path))


def to_lessons(rows: Iterable[dict[str, Any]], name: str) -> list[Lesson]:
    """Converts rows from `parse_rows` to lessons. Raises DataError with name and line for the first invalid
    row, and with the lines of the others."""
    lessons, wrong = list[Lesson](), list[tuple[Any, Exception]]()
    for row in rows:
        try:
            lessons.append(_lesson(row))
        except (KeyError, TypeError, ValueError) as error:
            wrong.append((row.get("_line", "?"), error))
    if wrong:
        (line, first), *others = wrong
        what = f"has no {first}" if isinstance(first, KeyError) else str(first)
        raise DataError(
            f"{name}:{line}: {what}{_and_lines([at for at, _ in others])}", _FORMS
        ) from first
    return lessons


def _and_lines(others: Sequence[Any]) -> str:
    """What an error says of further wrong lines; the first NAMED_LINES are named."""
    if not others:
        return ""
    named = ", ".join(map(str, others[:NAMED_LINES]))
    if len(others) == 1:
        return f"; line {named} is wrong too"
    more = f" and {len(others) - NAMED_LINES} more" if len(others) > NAMED_LINES else ""
    return f"; lines {named}{more} are wrong too"


@dataclass(frozen=True)
class Measured:
    """What a row carries for measuring alone; teaching ignores it."""

    key: Key = ()
    """What a right answer says (learning.text.key); empty where the row has none."""
    without: Key = ()
    """What it must not say."""
    rewordings: tuple[str, ...] = ()
    paraphrases: tuple[str, ...] = ()
    """The question in other words; never taught."""


def measured(row: dict[str, Any]) -> Measured:
    """From "key", "not", "rewordings", "paraphrase" and "paraphrases". Raises ValueError."""
    if "not" in row and "key" not in row:
        raise ValueError("has not, but no key")
    found = Measured(
        read_key(row["key"]) if "key" in row else (),
        read_key(row["not"], "not") if "not" in row else (),
        _texts(row.get("rewordings", []), "rewordings"),
        (
            *([_text(row["paraphrase"], "paraphrase")] if "paraphrase" in row else ()),
            *_texts(row.get("paraphrases", []), "paraphrases"),
        ),
    )
    answer = _lesson(row).answer
    if answer and not holds(answer, found.key, found.without):
        raise ValueError(f"the answer {answer!r} does not hold its own key")
    return found


def check_measured(rows: Iterable[dict[str, Any]], name: str) -> None:
    """Of rows that `to_lessons` accepts and that are to be measured. Raises DataError with name and line."""
    for row in rows:
        try:
            measured(row)
        except ValueError as error:
            next_step = (
                'mend it, or leave it out: "key" and "not" are lists of words or of alternatives'
            )
            raise DataError(f"{name}:{row['_line']}: {error}", next_step) from error


def _lesson(row: dict[str, Any]) -> Lesson:
    if talk := next((name for name in ("turns", "messages") if name in row), None):
        turns = _turns(row[talk], talk)
        if not _alternates(turns, "assistant"):
            raise ValueError(f"{talk} must alternate user and assistant and end with the assistant")
        return Lesson("example", turns[:-1], turns[-1].text)
    if "prompt" not in row and "chosen" in row:
        return _apart(row)
    prompt = _prompt(row["prompt"])
    if "chosen" in row:
        return Lesson("pick", prompt, _answer(row["chosen"], "chosen"), _rejected(row))
    answer = _answer(row["answer" if "completion" not in row else "completion"], "answer")
    rating = row.get("rating")
    if rating is None:
        return Lesson("example", prompt, answer)
    if rating == "good":
        return Lesson("rating", prompt, answer, weight=0.5)
    if rating == "bad":
        return Lesson("rating", prompt, "", (answer,), weight=0.5, blame=_blamed(row, answer))
    raise ValueError(f'rating is {rating!r}, not "good" or "bad"')


def _blamed(row: dict[str, Any], answer: str) -> Span | None:
    """The part of a bad answer that begins with the words "from"; None where that is all of it."""
    if "from" not in row:
        return None
    try:
        start, end = from_words(answer, _text(row["from"], "from"))
    except VidyaError as error:
        raise ValueError(error.what) from error
    return (start, end) if start else None


def _apart(row: dict[str, Any]) -> Lesson:
    """A preference in which `chosen` and `rejected` are whole conversations that differ in their last
    message."""
    chosen, rejected = (_turns(row.get(name), name) for name in ("chosen", "rejected"))
    if chosen[:-1] != rejected[:-1] or not _alternates(chosen[:-1], "user"):
        raise ValueError("chosen and rejected must differ in their last message alone")
    return Lesson("pick", chosen[:-1], chosen[-1].text, (rejected[-1].text,))


def _prompt(value: Any) -> Turns:
    """The turns before the answer: from a text, or from a list of messages."""
    if isinstance(value, str):
        return (Turn("user", _text(value, "prompt")),)
    turns = _turns(value, "prompt") if isinstance(value, list) else ()
    if not _alternates(turns, "user"):
        raise ValueError(
            "prompt must be a text that is not empty, or messages that end with the user's"
        )
    return turns


def _rejected(row: dict[str, Any]) -> tuple[str, ...]:
    """Rejected answers: from a text, a list with one message of the assistant, or a list of either."""
    value = row.get("rejected", [])
    several = isinstance(value, list) and not any(isinstance(one, dict) for one in value)
    return tuple(_answer(one, "rejected") for one in (value if several else [value]))


def _answer(value: Any, name: str) -> str:
    """An answer: from a text, or from a list with one message of the assistant."""
    if not isinstance(value, list):
        return _text(value, name)
    turns = _turns(value, name)
    if [turn.role for turn in turns] != ["assistant"]:
        raise ValueError(f"{name} must be a text, or one message of the assistant")
    return turns[0].text


def _turns(value: Any, name: str) -> Turns:
    """Turns from a list of {"role", "text"}, or {"role", "content"}."""
    if not isinstance(value, list) or not all(isinstance(turn, dict) for turn in value):
        raise ValueError(f'{name} must be a list of {{"role","text"}}')
    if not all(turn.get("role") in ("user", "assistant") for turn in value):
        raise ValueError(f'{name} must have the roles "user" and "assistant" only')
    return tuple(
        Turn(turn["role"], _text(turn.get("text", turn.get("content")), f"the text of {name}"))
        for turn in value
    )


def _alternates(turns: Turns, last: str) -> bool:
    """Whether the turns alternate, begin with the user, and end with the role `last`."""
    roles = [turn.role for turn in turns]
    fits = all(role == ("user", "assistant")[at % 2] for at, role in enumerate(roles))
    return bool(roles) and fits and roles[-1] == last


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(_text(one, f"each of {name}") for one in value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value.strip()
