"""Asking as a task: examples, and which texts are questions."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest

from engine.errors import DataError
from learning.practice.self_play.asking import AskingTask
from tests.learning.rewards.test_asked import asked


def test_its_examples_are_different_questions_that_may_be_practised() -> None:
    made = AskingTask(asked(), 50, random.Random(3))
    shown = list(islice(made.problems("train", random.Random(0)), 100))
    assert {one.prompt for one in shown} == {made.invitation.prompt} == {"Ask me a sum."}
    questions = [one.worked for one in shown]
    assert len(set(questions)) == 50 and sorted(questions[:50]) == sorted(questions[50:])  # type: ignore[type-var]
    assert questions[:50] != questions[50:], "in a new order each time"
    assert all(score.success for score in made.score(shown[0], [str(q) for q in questions]))
    assert list(made.problems("held_out", random.Random(0))) == []


def test_the_examples_depend_on_the_dice_alone() -> None:
    def first(seed: int) -> list[str | None]:
        made = AskingTask(asked(), 8, random.Random(seed))
        return [one.worked for one in islice(made.problems("train", random.Random(0)), 8)]

    assert first(3) == first(3) != first(4)


def test_any_text_is_judged_each_by_itself() -> None:
    made = AskingTask(asked(), 4, random.Random(0))
    texts = ["", "What is 3 + 4?", "\x00", "What is 5 + 0?", "What is 4 + 3?", "<answer>7</answer>"]
    scores = made.score(made.invitation, texts)
    assert [score.success for score in scores] == [False, True, False, False, True, False]
    assert [score.total for score in scores] == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    assert "questions" in made.describe() and made.name == "questions for chain_sum"


def test_a_task_that_can_show_no_question_says_so() -> None:
    mute = replace(asked(), read=lambda _: None)
    with pytest.raises(DataError, match="no question of it may be practised"):
        AskingTask(mute, 4, random.Random(0))
