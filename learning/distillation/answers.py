"""Samples a teacher's answers to a list of openings, filters them and keeps them in a file. Resumable.

The file has one JSON row for each opening, written as soon as it is complete, so nothing is sampled twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from engine.errors import DataError
from engine.model import Model
from engine.rollout import message_answers
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.json_lines import parse
from learning.distillation.filters import agreement, fault


@dataclass(frozen=True)
class DrawSettings:
    """How a teacher's answers are sampled."""

    draws: int = 4
    """Answers to each opening; the one that agrees most with the others is kept."""
    temperature: float = 0.7
    max_tokens: int = 64
    """Longest answer, in the teacher's tokens."""
    agreement: float = 0.15
    """Least mean overlap of the kept answer with the others, 0 to 1 (filters.agreement)."""
    rows: int = 16
    """Openings asked in one batch."""

    def mark(self, teacher: str) -> str:
        """Hash of everything that the answers depend on. teacher: identifies the teacher's weights."""
        text = json.dumps([teacher, asdict(self)])
        return blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class TeacherAnswer:
    """The result for one opening."""

    opening: str
    answer: str
    """The kept answer; empty if none was good enough."""
    why: str
    """Why no answer was kept; empty if one was."""
    agreement: float
    """Agreement of the kept answer, or else of the best one, 0 to 1 (filters.agreement)."""
    tokens: int
    """The teacher drew for it, of all draws."""


class AnswerFile:
    """The rows drawn so far. A row that was cut off by a crash is drawn again."""

    def __init__(self, path: Path, mark: str) -> None:
        """mark: of DrawSettings; rows of other settings or another teacher are left alone and not
        read. Raises DataError for a file that cannot be read."""
        self._path, self._mark = path, mark
        self.rows: dict[str, TeacherAnswer] = {}
        for row in _readable(path):
            if row.pop("mark", None) == mark:
                answer = TeacherAnswer(**row)
                self.rows[answer.opening] = answer

    def add(self, answers: Sequence[TeacherAnswer]) -> None:
        """Appends rows. Raises OSError."""
        lines = [
            json.dumps({"mark": self._mark, **asdict(one)}, ensure_ascii=False) for one in answers
        ]
        with open(self._path, "ab", opener=_private) as file:
            # the empty line ends a row that a crash cut off
            file.write("".join(f"\n{line}\n" for line in lines).encode())
        self.rows |= {one.opening: one for one in answers}


def _private(path: str, flags: int) -> int:
    """Opens a file that only its owner can read."""
    return os.open(path, flags, 0o600)


def _readable(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of the file that are whole."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})", "make it readable") from error
    for line in lines:
        try:
            yield from (row for _, row in parse(line, path.name, ""))
        except DataError:
            continue


def draw(
    teacher: Model,
    tokenizer: Tokenizer,
    openings: Sequence[str],
    settings: DrawSettings,
    file: AnswerFile,
    *,
    generator: torch.Generator,
    stop: Callable[[], bool] = lambda: False,
    pause: Callable[[], None] = lambda: None,
    report: Callable[[int, int], None] = lambda _done, _tokens: None,
) -> list[TeacherAnswer]:
    """One row for each opening, in their order; those in the file are not drawn again.

    stop: asked between batches; the rows drawn so far are returned then. `pause` is called between
    forward passes, `report` with (openings done, tokens drawn so far). Raises OSError where the file
    cannot be written.
    """
    missing = [opening for opening in dict.fromkeys(openings) if opening not in file.rows]
    for start in range(0, len(missing), settings.rows):
        if stop():
            break
        batch = missing[start : start + settings.rows]
        file.add(_drawn(teacher, tokenizer, batch, settings, generator, pause))
        report(len(file.rows), sum(row.tokens for row in file.rows.values()))
    return [file.rows[opening] for opening in dict.fromkeys(openings) if opening in file.rows]


def _drawn(
    teacher: Model,
    tokenizer: Tokenizer,
    openings: Sequence[str],
    settings: DrawSettings,
    generator: torch.Generator,
    pause: Callable[[], None],
) -> list[TeacherAnswer]:
    found = message_answers(
        teacher,
        tokenizer,
        openings,
        settings.draws,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        generator=generator,
        pause=pause,
    )
    rows = []
    for opening, answers in zip(openings, found, strict=True):
        tokens = sum(len(answer.tokens) for _, answer in answers)
        texts = [(text, answer.ending == "end") for text, answer in answers]
        rows.append(_best(opening, texts, tokens, settings.agreement))
    return rows


def _best(
    opening: str, drawn: Sequence[tuple[str, bool]], tokens: int, least: float
) -> TeacherAnswer:
    """The answer without a fault that agrees most with all that were drawn."""
    faults = [fault(text, opening, ended=ended) for text, ended in drawn]
    agreed = agreement([text for text, _ in drawn])
    good = [place for place, wrong in enumerate(faults) if wrong is None]
    if not good:
        return TeacherAnswer(opening, "", str(faults[0]), 0.0, tokens)
    best = max(good, key=lambda place: agreed[place])
    if agreed[best] < least:
        return TeacherAnswer(opening, "", "no two answers agree", agreed[best], tokens)
    return TeacherAnswer(opening, drawn[best][0], "", agreed[best], tokens)
