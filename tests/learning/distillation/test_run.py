from __future__ import annotations

import math
import random

import pytest
import torch

from engine.errors import CheckpointError
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_answer
from learning.distillation.answers import TeacherAnswer
from learning.distillation.run import SavePoint, distil
from learning.distillation.student import Student, StudentSettings
from learning.distillation.targets import hard_targets
from learning.memory.replay import Replay

ROWS = [
    TeacherAnswer(f"What is {word}?", f"The {word} looked at the moon.", "", 1.0, 9)
    for word in ("cat", "river", "sea", "bread")
]


class Weights:
    """A fake of SavePoints that records what was published."""

    def __init__(self, model: Model) -> None:
        self.model, self.notes, self.restored = model, list[str](), 0

    def save(self, note: str) -> None:
        self.notes.append(note)

    def restore(self) -> None:
        self.restored += 1


@pytest.fixture
def student(tiny_model: Model, tiny_tokenizer: Tokenizer) -> Student:
    settings = StudentSettings(epochs=6, batch=2, lr=3e-3, ramp=2, save_every=4)
    line = from_answer(tiny_tokenizer, [("user", "Hello!")], "How are you today?", 128)
    replay = Replay(tiny_model, [line], [], [])
    answers = hard_targets(tiny_tokenizer, ROWS[:3], 128)
    return Student(tiny_model, answers, replay, settings, random.Random(0))


def test_it_is_saved_every_so_many_steps_and_at_the_end(
    student: Student, tiny_tokenizer: Tokenizer
) -> None:
    told, weights = list[SavePoint](), Weights(student.model)
    held_out = hard_targets(tiny_tokenizer, ROWS[3:], 128)
    result = distil(student, held_out, weights, note="x", report=told.append)
    assert [(point.step, point.saved) for point in told] == [
        *((0, False), (4, True), (8, True), (9, True))
    ]
    assert weights.notes == ["x, step 4", "x, step 8", "x, step 9"] and not weights.restored
    assert result.ended == "steps" and result.before == told[0] and result.last == told[-1]
    assert math.isnan(told[0].loss) and told[-1].held_out < told[0].held_out


def test_what_was_learned_until_it_is_stopped_is_kept(student: Student) -> None:
    weights, asked = Weights(student.model), list[int]()

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    result = distil(student, [], weights, note="x", stop=stop)
    assert (result.ended, result.last.step, weights.notes) == ("stopped", 2, ["x, step 2"])
    assert "kept" in result.why


def test_nothing_is_published_where_it_is_stopped_at_once(student: Student) -> None:
    weights = Weights(student.model)
    result = distil(student, [], weights, note="x", stop=lambda: True)
    assert (result.ended, result.last.step, weights.notes) == ("stopped", 0, [])


def test_the_guard_ends_it_with_the_weights_of_the_last_save_point(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    student.retention.book_before = 1.0  # the untrained model knows nothing of it
    monkeypatch.setattr(student, "mend", lambda: None)
    weights = Weights(student.model)
    result = distil(student, [], weights, note="x")
    assert result.ended == "rolled_back" and "book" in result.why
    assert weights.restored == 1 and not weights.notes
    assert result.last.step == 0


def test_what_was_forgotten_is_mended_before_it_is_refused(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    student.retention.book_before, mended = 1.0, list[int]()
    measure = student.retention.measure

    def measured(model: Model) -> float:
        measure(model)
        student.retention.book_recall = 1.0 if len(mended) >= 16 else 0.5
        return student.retention.book_recall

    monkeypatch.setattr(student.retention, "measure", measured)
    monkeypatch.setattr(student, "mend", lambda: mended.append(1))
    result = distil(student, [], Weights(student.model), note="x")
    assert result.ended == "steps" and len(mended) == 16


def test_numbers_that_are_not_finite_end_it(student: Student) -> None:
    with torch.no_grad():
        student.model.embedding.weight[0] = math.nan
    weights = Weights(student.model)
    result = distil(student, [], weights, note="x")
    assert result.ended == "rolled_back" and weights.restored == 1


def test_what_the_disk_says_is_raised_and_the_weights_are_as_published(student: Student) -> None:
    weights = Weights(student.model)

    def full(_: str) -> None:
        raise CheckpointError("the disk is full")

    weights.save = full  # type: ignore[method-assign]
    with pytest.raises(CheckpointError, match="full"):
        distil(student, [], weights, note="x")
    assert weights.restored == 1
