"""Questions that a model asks: what a program can read, and what may be practised of it."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from learning.rewards.asked import AskedTask, says_answer
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions


def asked(name: str = "chain_sum", **difficulty: object) -> AskedTask:
    task = find_task(name, TaskOptions(difficulty=difficulty))
    assert isinstance(task, AskedTask)
    return task


@pytest.mark.parametrize("name", ["chain_sum", "basic_arithmetic"])
def test_what_the_task_asks_it_can_read_and_answer(name: str) -> None:
    task, rng = asked(name), random.Random(0)
    own = list(islice(task.problems("train", rng), 50))
    drawn = [task.example(rng) for _ in range(300)]
    examples = [one for one in drawn if one is not None]
    assert len(examples) > 200
    for problem in (*own, *examples):
        assert task.read(problem.prompt) == problem, "the same truth, key and worked answer"
    levels = {task.level(problem) for problem in examples}
    assert levels == {f"{terms}x{digits}" for terms in (2, 3, 4) for digits in (1, 2)}


def test_the_split_of_a_question_does_not_depend_on_the_order_of_its_terms() -> None:
    task, held_out = asked(), 0
    for a in range(10):
        for b in range(10):
            one, other = task.read(f"What is {a} + {b}?"), task.read(f"What is {b} + {a}?")
            assert one and other and one.same == other.same
            if one.split == "held_out":
                held_out += 1
                assert task.accept(one.prompt) is task.accept(other.prompt) is None
    assert held_out >= 10


def test_a_question_that_says_its_answer_is_refused() -> None:
    task = asked()
    assert task.read("What is 5 + 0?") and task.accept("What is 5 + 0?") is None
    assert task.read("What is 8 - 4?") and task.accept("What is 8 - 4?") is None
    assert says_answer(Problem("What is 5 + -3 - 5?", "-3"))
    assert not says_answer(Problem("What is 15 - 10?", "5")), "a part of a number is no number"
    assert not says_answer(Problem("What is 0 - 3?", "-3"))
