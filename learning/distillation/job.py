"""A distillation as the owner asks for it: a teacher and a student by name, openings, answers, the run.

The teacher's answers are kept beside the student, so that a broken run goes on without drawing them
again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch

from engine.errors import CheckpointError, DataError, reason
from engine.model import Model
from engine.precision import fast_dtype
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.distillation.answers import AnswerFile, DrawSettings, TeacherAnswer, draw
from learning.distillation.run import DistillationResult, SavePoint, distil
from learning.distillation.student import Student, StudentSettings
from learning.distillation.targets import SoftExample, hard_targets, soft_targets
from learning.memory.save_points import LessonSavePoints
from learning.memory.transaction import WeightTransaction
from learning.models.files import TALK
from learning.models.trainable import all_weights
from learning.protocol.records import DISTILLATION
from learning.text.normalise import fold
from learning.text.openings import openings

ANSWERS = "teacher_answers.jsonl"
"""The file of a teacher's answers, in the student's folder."""
HELD_OUT = 10
"""One of so many answers is never learned, only measured."""
FEWEST = 20
"""Answers without which nothing is learned."""

Way = Literal["sequence", "soft"]
"""sequence: the teacher's words alone (1606.07947). soft: its distribution at every token too."""


@dataclass(frozen=True)
class DistillationSettings:
    """What a person can choose."""

    way: Way = "soft"
    count: int | None = None
    """Openings; None for all."""
    draw: DrawSettings = field(default_factory=DrawSettings)
    student: StudentSettings = field(default_factory=StudentSettings)


@dataclass(frozen=True)
class TeacherModel:
    """The larger model."""

    name: str
    folder: Path
    model: Model
    tokenizer: Tokenizer
    version: int

    @property
    def identity(self) -> str:
        """Identifies the weights that the answers come from."""
        return f"{self.name} {self.version} {self.tokenizer.fingerprint()}"


def check_enough(openings: int) -> None:
    """Raises DataError where so many openings are too few, however well they are answered."""
    if openings < FEWEST:
        raise DataError(
            f"openings that neither the book nor a lesson answers: {openings}",
            f"at least {FEWEST} are needed, and some more, because not every answer is good enough",
        )


@dataclass(frozen=True)
class DistillationJob:
    """One request. Nothing is drawn or learned before `answers` and `run` are called."""

    teacher: TeacherModel
    transaction: WeightTransaction
    tokenizer: Tokenizer
    """The student's."""
    settings: DistillationSettings
    seed: int
    pause: Callable[[], None] = lambda: None

    def unknown(self, openings: Sequence[str]) -> list[str]:
        """The openings that neither the book nor a lesson answers: what the teacher is asked."""
        known = {example.prompt for example in self.transaction.caches.replay.memory}
        return [opening for opening in openings if fold(opening) not in known]

    def answers(
        self,
        asked: Sequence[str],
        report: Callable[[int, int], None],
        stop: Callable[[], bool],
    ) -> list[TeacherAnswer]:
        """Draws what is missing. report: (openings done, tokens). Raises DataError where the file of answers
        cannot be read or written."""
        path = self.transaction.weights.folder / ANSWERS
        file = AnswerFile(path, self.settings.draw.mark(self.teacher.identity))
        generator = torch.Generator().manual_seed(self.seed)
        try:
            return draw(
                self.teacher.model,
                self.teacher.tokenizer,
                asked,
                self.settings.draw,
                file,
                generator=generator,
                stop=stop,
                pause=self.pause,
                report=report,
            )
        except OSError as error:
            raise DataError(
                f"{path}: cannot be written ({reason(error)})", "free some space; then go on"
            ) from error

    def run(
        self,
        rows: Sequence[TeacherAnswer],
        report: Callable[[SavePoint], None],
        stop: Callable[[], bool],
    ) -> DistillationResult:
        """Learns from the rows that have an answer, publishes at save points. Raises DataError where
        there are too few, and what publication raises."""
        kept = [row for row in rows if row.answer]
        check_enough(len(rows))
        if len(kept) < FEWEST:
            raise DataError(
                f"too few answers of {self.teacher.name} were good enough: {len(kept)} of {len(rows)}",
                f"give more openings, or name a better teacher; at least {FEWEST} are needed",
            )
        learned = [row for place, row in enumerate(kept) if place % HELD_OUT]
        held_out = self._examples(kept[::HELD_OUT])
        transaction = self.transaction
        model, name = transaction.weights.model, f"{DISTILLATION}{self.teacher.name}"
        transaction.caches.forget()  # all weights are trained
        try:
            with transaction.begin(all_weights(model)) as attempt:
                student = Student(
                    model,
                    self._examples(learned),
                    transaction.caches.replay,
                    self.settings.student,
                    random.Random(self.seed),
                    pause=self.pause,
                )
                return distil(
                    student,
                    held_out,
                    LessonSavePoints(attempt, transaction.journal, name),
                    note=name,
                    report=report,
                    stop=stop,
                    pause=self.pause,
                )
        finally:
            # what was generated before is not how it talks now
            (transaction.weights.folder / TALK).unlink(missing_ok=True)
            transaction.caches.forget()

    def _examples(self, rows: Sequence[TeacherAnswer]) -> list[SoftExample]:
        context = self.transaction.weights.model.config.context
        if self.settings.way == "sequence":
            return hard_targets(self.tokenizer, rows, context)
        teacher = self.teacher
        return soft_targets(
            teacher.model, teacher.tokenizer, self.tokenizer, rows, context, pause=self.pause
        )


def load_teacher(name: str, folder: Path, version: int, device: str = "cpu") -> TeacherModel:
    """Reads a model that answers and never changes. Raises CheckpointError."""
    model = load_model(folder, dtype=fast_dtype(device), device=device)
    model.requires_grad_(False).eval()
    return TeacherModel(name, folder, model, load_tokenizer(folder), version)


OPENINGS = "give a text file, one opening a line"
"""The next step where a file of openings cannot be read."""


def chosen_openings(given: tuple[bytes, str] | None, count: int | None) -> list[str]:
    """The openings to ask: those that come with vidya, or the lines of a text file, without blank ones and
    those that begin with `#`; each once. given: contents and name of the file. Raises DataError."""
    if given is None:
        found = openings()
    else:
        data, name = given
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}: cannot be read ({reason(error)})", OPENINGS) from error
        lines = [line.strip() for line in text.splitlines()]
        found = [line for line in lines if line and not line.startswith("#")]
        found = list({fold(line): line for line in found}.values())
        if not found:
            raise DataError(f"{name}: has no openings", OPENINGS)
    return found[:count]


def check_pair(teacher: Path, student: Path) -> None:
    """Raises CheckpointError if teacher and student are the same model."""
    if teacher.resolve() == student.resolve():
        raise CheckpointError(
            f"{teacher.name} cannot teach itself", "name another model with --from or --to"
        )


def check_tokenizers(teacher: Tokenizer, student: Tokenizer) -> None:
    """Raises CheckpointError if the two differ: then some targets are single tokens, not distributions, and
    a divergence from these says nothing."""
    if teacher.fingerprint() != student.fingerprint():
        raise CheckpointError(
            "teacher and student have different tokenizers, so there is no divergence between them",
            "leave out --beta",
        )
