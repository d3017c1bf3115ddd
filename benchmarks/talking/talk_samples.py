"""Samples for readers: conversations drawn by seed and a newcomer's openings, unselected.

Also defines `Answerer`, the interface between the benchmark and a model. Imports no torch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.talking.talk_data import Question
from engine.config import Sampling
from engine.errors import DataError
from engine.storage.files import write_atomically

OPENING_SAMPLES = 3
OPENINGS = (
    "hi",
    "how are you?",
    "what is your name?",
    "tell me a story",
    "what is 7 + 5?",
    "I am sad today",
    "do you like music?",
    "what can you do?",
    "goodbye",
    "florp wug the blicket?",
)
SECOND_TURNS = (
    "Tell me more.",
    "Why?",
    "And what about you?",
    "How do you know that?",
    "What do you mean?",
    "Really?",
    "Can you give me an example?",
    "I am not sure I agree.",
    "That is nice to hear.",
    "What should I do now?",
)
"""Follow-ups; one of them, drawn by seed, comes after the first answer of a sample conversation."""

Turns = Sequence[tuple[str, str]]
Answerer = Callable[[Turns, Sampling, int], "Answer"]
"""(turns, sampling, seed) -> answer; deterministic."""
APP = Sampling()
"""What the program draws with where a model has nothing of its own."""


@dataclass(frozen=True)
class Answer:
    """A model's answer."""

    text: str
    ending: str
    """"end", or "length" if it was cut off."""


def seed_of(*parts: object) -> int:
    """A separate seed per question, so that leaving some out does not change the other answers."""
    return random.Random("/".join(map(str, parts))).getrandbits(31)


def conversations(
    answerer: Answerer,
    questions: Sequence[Question],
    count: int,
    seed: int,
    sampling: Sampling = APP,
) -> list[dict[str, Any]]:
    """`count` questions drawn by seed, each with its answer and a second turn."""
    rng = random.Random(seed)
    drawn = []
    for question in rng.sample(list(questions), min(count, len(questions))):
        turns = list(question.turns)
        first = answerer(turns, sampling, seed_of(seed, question.id))
        turns += [("assistant", first.text), ("user", rng.choice(SECOND_TURNS))]
        second = answerer(turns, sampling, seed_of(seed, question.id, "second"))
        turns.append(("assistant", second.text))
        drawn.append({"id": question.id, "given": len(question.turns), "turns": turns})
    return drawn


def openings(answerer: Answerer, seed: int, sampling: Sampling = APP) -> list[dict[str, Any]]:
    """Typical first messages of a newcomer, with three answers each."""
    return [
        {
            "opening": text,
            "answers": [
                answerer([("user", text)], sampling, seed_of(seed, text, n)).text
                for n in range(OPENING_SAMPLES)
            ],
        }
        for text in OPENINGS
    ]


def samples_text(samples: Mapping[str, Mapping[str, Any]], command: str, seed: int) -> str:
    """The samples of each model as Markdown: openings, then conversations."""
    parts = [
        "# What the models say",
        f"    {command}",
        f"Unselected samples with the sampling that suits each model, seed {seed}. Lines marked *given* were "
        "written by hand; the user's last message was drawn from a fixed list.",
    ]
    for name, found in samples.items():
        parts.append(f"## {name}: a newcomer's openings")
        for row in found["openings"]:
            answers = "\n".join(f"- {_line(text)}" for text in row["answers"])
            parts.append(f"**{_line(row['opening'])}**\n\n{answers}")
        parts.append(f"## {name}: conversations drawn by seed, with a second turn")
        for row in found["conversations"]:
            lines = [
                f"- {role}{' (given)' if i < row['given'] and role == 'assistant' else ''}: "
                f"{_line(text)}"
                for i, (role, text) in enumerate(row["turns"])
            ]
            parts.append(f"**{row['id']}**\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _line(text: str) -> str:
    """The text on one line, with Markdown's special characters escaped."""
    words = " ".join(text.split()) or "(nothing)"
    for mark in "\\`*_<[#|":
        words = words.replace(mark, "\\" + mark)
    return words


def write_samples(out: Path, text: str) -> None:
    """Writes talk_samples.md. Raises DataError."""
    try:
        write_atomically(out / "talk_samples.md", text)
    except OSError as error:
        raise DataError(
            f"{out}: the samples cannot be written ({error.strerror})",
            "name another folder: --out",
        ) from error
