"""The 200 questions of the talk benchmark, and a check that they are not in the training data.

A question is unseen if no message of corpus or book equals it after folding, and none shares six words in a
row with any of its turns. Left out: similar meaning; "how are you keeping" counts as unseen although "how
are you" was seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import DATA
from engine.errors import DataError

QUESTIONS = DATA / "talk.jsonl"
CATEGORIES = (
    "greeting",
    "feelings",
    "opinions",
    "small_talk",
    "identity",
    "story",
    "follow_up",
    "arithmetic",
    "facts",
    "farewell",
    "nonsense",
)
TYPES = (
    "yes_no",
    "who",
    "where",
    "when",
    "how_many",
    "why",
    "what",
    "how_are_you",
    "choice",
    "statement",
)
"""Kinds of answers that questions ask for; requests ("tell me a story") are statements."""
GRAM = 6
"""Words in a row that a question must not share with the training data."""

Turns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Question:
    """One opening or follow-up."""

    id: str
    category: str
    type: str
    turns: Turns
    """(role, text) of each turn, user first and last."""
    truth: tuple[str, ...] = ()
    """Accepted answers; empty if there is no right one."""
    options: tuple[str, ...] = ()
    """For the type choice: the words to choose from."""

    @property
    def asked(self) -> str:
        """The last message."""
        return self.turns[-1][1]


def load(path: Path = QUESTIONS) -> list[Question]:
    """All questions. Raises DataError with file and line."""
    questions = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            turns = tuple((str(t["role"]), str(t["text"])) for t in row["turns"])
            roles = tuple(role for role, _ in turns)
            if roles != ("user", "assistant") * (len(turns) // 2) + ("user",):
                raise ValueError("turns must alternate and end with the user")
            if row["category"] not in CATEGORIES or row["type"] not in TYPES:
                raise ValueError("unknown category or type")
            truth, options = tuple(row.get("truth", ())), tuple(row.get("options", ()))
            questions.append(
                Question(row["id"], row["category"], row["type"], turns, truth, options)
            )
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}:{number}: not a question ({error})", "mend the line") from None
    return questions


def fold(text: str) -> tuple[str, ...]:
    """Words in lower case: letters and digits only, apostrophes dropped."""
    return tuple(re.findall(r"[^\W_]+", re.sub(r"['’]", "", text.casefold())))


def grams(words: Sequence[str], n: int = GRAM) -> set[tuple[str, ...]]:
    """All n-grams of the words."""
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def seen(questions: Iterable[Question], messages: Iterable[str]) -> dict[str, str]:
    """{id of a question: the part of it that occurs in the messages}; empty if all are unseen."""
    exact = {fold(question.asked): question.id for question in questions}
    parts: dict[tuple[str, ...], set[str]] = {}
    for question in questions:
        for _, text in question.turns:
            for gram in grams(fold(text)):
                parts.setdefault(gram, set()).add(question.id)
    found: dict[str, str] = {}
    for message in messages:
        words = fold(message)
        if words in exact:
            found[exact[words]] = " ".join(words)
        for i in range(len(words) - GRAM + 1):
            for name in parts.get(words[i : i + GRAM], ()):
                found.setdefault(name, " ".join(words[i : i + GRAM]))
    return found
