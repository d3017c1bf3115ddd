from __future__ import annotations

import random

import pytest
import torch

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import from_answer
from learning.distillation.answers import TeacherAnswer
from learning.distillation.student import (
    Student,
    StudentSettings,
    answer_gradients,
    answer_loss,
)
from learning.distillation.targets import hard_targets, soft_targets
from learning.memory.replay import Replay
from learning.objectives.supervised import likelihood_gradients

ROWS = [
    TeacherAnswer("What runs to the sea?", "The river runs to the sea.", "", 1.0, 9),
    TeacherAnswer("Who is there?", "My name is Vidya.", "", 1.0, 9),
    TeacherAnswer("What do you like?", "I like warm bread.", "", 1.0, 9),
]


def test_hard_targets_give_the_gradient_of_the_likelihood(
    tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    loss = answer_gradients(tiny_model, hard_targets(tiny_tokenizer, ROWS, 128))
    ours = [p.grad.clone() for p in tiny_model.parameters() if p.grad is not None]
    tiny_model.zero_grad()
    examples = [from_answer(tiny_tokenizer, [("user", r.opening)], r.answer, 128) for r in ROWS]
    assert likelihood_gradients(tiny_model, examples) == pytest.approx(loss, rel=1e-4)
    theirs = [p.grad for p in tiny_model.parameters() if p.grad is not None]
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-3)


def _replay(model: Model, tokenizer: Tokenizer) -> Replay:
    line = from_answer(tokenizer, [("user", "Hello!")], "How are you today?", 128)
    return Replay(model, [line], [], [])


@pytest.mark.parametrize("soft", [False, True])
def test_a_student_comes_to_say_what_its_teacher_says(
    soft: bool,
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    teacher: Model,
    teacher_tokenizer: Tokenizer,
) -> None:
    answers = hard_targets(tiny_tokenizer, ROWS, 128)
    if soft:
        answers = soft_targets(teacher, teacher_tokenizer, tiny_tokenizer, ROWS, 128)
    before = answer_loss(tiny_model, answers)
    settings = StudentSettings(epochs=20, batch=3, lr=3e-3, ramp=2)
    student = Student(
        tiny_model, answers, _replay(tiny_model, tiny_tokenizer), settings, random.Random(0)
    )
    assert student.steps == 20
    losses = [student.step() for _ in range(student.steps)]
    assert answer_loss(tiny_model, answers) < before - (0.1 if soft else 2.0)
    assert losses[-1] < losses[0]
    student.mend()
    assert student.retention.measure(tiny_model) >= 0.0


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_a_student_of_another_divergence_comes_nearer_too(
    beta: float, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    teacher = Model(tiny_model.config, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():  # surer than a random model
        for weight in teacher.parameters():
            weight.mul_(3.0)
    answers = soft_targets(teacher, tiny_tokenizer, tiny_tokenizer, ROWS, 128)
    before = answer_loss(tiny_model, answers)
    cross_entropy = answer_gradients(tiny_model, answers)
    assert cross_entropy == pytest.approx(before, rel=1e-3), "as before where no beta is asked"
    tiny_model.zero_grad()
    replay = _replay(tiny_model, tiny_tokenizer)
    settings = StudentSettings(epochs=20, batch=3, beta=beta)
    student = Student(tiny_model, answers, replay, settings, random.Random(0))
    first = student.step()
    assert first != pytest.approx(cross_entropy, rel=0.05), "the student trains on it"
    adam = torch.optim.Adam(tiny_model.parameters(), lr=3e-3)  # nothing else pulls
    for _ in range(30):
        adam.zero_grad()
        last = answer_gradients(tiny_model, answers, beta=beta)
        adam.step()
    assert last < 0.5 * first


def test_every_answer_comes_once_an_epoch(tiny_model: Model, tiny_tokenizer: Tokenizer) -> None:
    answers = hard_targets(tiny_tokenizer, ROWS, 128)
    settings = StudentSettings(epochs=2, batch=2)
    student = Student(
        tiny_model, answers, _replay(tiny_model, tiny_tokenizer), settings, random.Random(0)
    )
    assert student.steps == 3
    seen = [id(one) for _ in range(student.steps) for one in student._next_batch()]
    assert sorted(map(seen.count, {id(one) for one in answers})) == [2, 2, 2]
