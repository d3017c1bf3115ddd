from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError, DataError
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.distillation.answers import TeacherAnswer
from learning.distillation.job import (
    ANSWERS,
    DistillationJob,
    DistillationSettings,
    TeacherModel,
    check_pair,
    check_tokenizers,
    chosen_openings,
    load_teacher,
)
from learning.distillation.student import StudentSettings
from learning.lessons.learner import Learner
from learning.models.files import TALK
from learning.models.home_files import problems
from learning.text.openings import openings
from tests.learning.conftest import Place

ROWS = [
    TeacherAnswer(f"Where is number {i}?", f"The sea has number {i}.", "", 1.0, 9)
    for i in range(24)
]


@pytest.fixture
def job(tiny_place: Place, teacher: Model, teacher_tokenizer: Tokenizer) -> DistillationJob:
    home, folder, journal = tiny_place
    learner = Learner(home, folder, journal, seed=0)
    student = StudentSettings(epochs=1, batch=8, save_every=2)
    return DistillationJob(
        TeacherModel("big", home.models_path / "big", teacher, teacher_tokenizer, 3),
        learner.transaction,
        learner.tokenizer,
        DistillationSettings(student=student),
        seed=0,
    )


@pytest.mark.slow
def test_a_distillation_is_published_as_one_lesson_that_can_be_undone(
    job: DistillationJob, tiny_place: Place
) -> None:
    home, folder, journal = tiny_place
    (folder / TALK).write_text("[]")
    result = job.run(ROWS, lambda _: None, lambda: False)
    assert result.ended == "steps" and result.last.step == 3
    (lesson,) = journal.lessons()
    assert (lesson.kind, lesson.prompt[0].text) == ("practice", "distillation from big")
    assert job.transaction.weights.version in {2, 3}
    assert lesson.id in journal.lessons_in(job.transaction.weights.version)
    assert not (folder / TALK).exists()  # it talks otherwise now
    learner = Learner(home, folder, journal, seed=0)
    learner.undo(lesson)
    assert lesson.id not in journal.lessons_in(learner.version)


def test_too_few_answers_teach_nothing(job: DistillationJob, tiny_place: Place) -> None:
    bad = [replace(row, answer="", why="echoes") for row in ROWS[:10]]
    with pytest.raises(DataError, match="too few answers of big were good enough: 14 of 24"):
        job.run([*bad, *ROWS[10:]], lambda _: None, lambda: False)
    assert not tiny_place[2].lessons()


def test_answers_are_kept_beside_the_student_and_belong_there(
    job: DistillationJob, tiny_place: Place
) -> None:
    home, folder, _ = tiny_place
    rows = job.answers(["Where is the sea?"], lambda *_: None, lambda: False)
    assert [row.opening for row in rows] == ["Where is the sea?"]
    assert (folder / ANSWERS).stat().st_mode & 0o077 == 0
    assert problems(home) == []


def test_what_the_book_answers_is_not_asked(job: DistillationJob) -> None:
    prompt = job.transaction.caches.replay.book[0].question
    assert job.unknown([prompt, "Where is the sea?"]) == ["Where is the sea?"]


def test_too_few_openings_are_told_apart_from_bad_answers(job: DistillationJob) -> None:
    with pytest.raises(DataError, match="neither the book nor a lesson answers: 3"):
        job.run(ROWS[:3], lambda _: None, lambda: False)


def test_both_ways_make_examples_of_the_students_tokens(job: DistillationJob) -> None:
    for way in ("soft", "sequence"):
        chosen = replace(job, settings=replace(job.settings, way=way))  # type: ignore[arg-type]
        (found,) = chosen._examples(ROWS[:1])
        assert job.tokenizer.decode(found.example.answer) == ROWS[0].answer
        assert found.ids.shape[1] == (16 if way == "soft" else 1)


def test_a_teacher_is_read_in_the_numbers_that_answer_fastest_and_never_learns(
    tmp_path: Path, teacher: Model, teacher_tokenizer: Tokenizer
) -> None:
    save_model(teacher, tmp_path / "big")
    teacher_tokenizer.save(tmp_path / "big")
    found = load_teacher("big", tmp_path / "big", 3)
    assert not any(weight.requires_grad for weight in found.model.parameters())
    assert found.identity != replace(found, version=4).identity


def test_a_model_does_not_teach_itself(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot teach itself"):
        check_pair(tmp_path, tmp_path / ".." / tmp_path.name)
    check_pair(tmp_path, tmp_path / "other")


def test_openings_come_from_a_file_or_with_vidya() -> None:
    assert chosen_openings(None, 5) == openings()[:5]
    text = b"\xef\xbb\xbf# ours\nHello!\n\n  Why? \nhello\n"
    assert chosen_openings((text, "asked.txt"), None) == ["hello", "Why?"]
    with pytest.raises(DataError, match="asked.txt: has no openings"):
        chosen_openings((b"# nothing\n", "asked.txt"), None)
    with pytest.raises(DataError, match="asked.txt: cannot be read"):
        chosen_openings((b"\xff", "asked.txt"), None)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_answers(job: DistillationJob, tiny_place: Place) -> None:
    asked = ["Where is the sea?", "Who looked at the moon?"]
    first = job.answers(asked, lambda *_: None, lambda: False)
    (tiny_place[1] / ANSWERS).unlink()
    torch.manual_seed(random.randrange(99))
    assert job.answers(asked, lambda *_: None, lambda: False) == first


def test_a_divergence_needs_equal_tokenizers(
    tiny_tokenizer: Tokenizer, teacher_tokenizer: Tokenizer
) -> None:
    check_tokenizers(tiny_tokenizer, tiny_tokenizer)
    with pytest.raises(CheckpointError, match="different tokenizers"):
        check_tokenizers(teacher_tokenizer, tiny_tokenizer)
