"""Sums as text are read back exactly, and nothing else is read."""

from __future__ import annotations

import pytest

from learning.rewards.asked import AskedTask
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from learning.rewards.tasks.sums import level, read_question, read_sum


@pytest.mark.parametrize(
    ("text", "value", "again"),
    [
        ("3 + 4", 7, "3 + 4"),
        ("12 + 7 - 3", 16, "12 + 7 - 3"),
        ("2 + 3 * 4", 14, "2 + 3 * 4"),
        ("(2 + 3) * 4", 20, "(2 + 3) * 4"),
        ("9 - (4 - 1)", 6, "9 - (4 - 1)"),
        ("(3) + (4)", 7, "3 + 4"),
        ("-5 + 3", -2, "-5 + 3"),
        ("8 / 4 / 2", 1, "8 / 4 / 2"),
    ],
)
def test_an_expression_is_read(text: str, value: int, again: str) -> None:
    node = read_sum(text)
    assert node is not None and (node.value, node.text()) == (value, again)


@pytest.mark.parametrize(
    "text",
    ["", "3 +", "7 / 2", "7 / 0", "3 ** 4", "9 // 4", "5(3)", "08 + 1", "1_0 + 2", "True + 1"]
    + ["3.5 + 1", "x + 1", "--5", "+5", "1 if 1 else 2", "(" * 5000, "1+" * 5000 + "1", "\x00"],
)
def test_other_texts_are_not(text: str) -> None:
    assert read_sum(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "What is 7?",
        "What is 1 + 2 + 3 + 4 + 5?",
        "What is 100 + 1?",
        "What is 3 * 4?",
        "What is 3 + 4? Is it 7?",
        "What is 3 + 4 = 7?",
        "what is 3 + 4?",
        "3 + 4",
        "What is \u0663 + 4?",
        "",
    ],
)
def test_what_is_no_question_about_a_sum(text: str) -> None:
    assert read_question(text, "+-", "chain_sum") is None


def test_a_question_and_its_level() -> None:
    problem = read_question(" What is  12 + 7\n- 3?", "+-", "chain_sum")
    assert problem is not None
    assert (problem.prompt, problem.truth) == ("What is 12 + 7 - 3?", "16")
    assert level(problem) == "3x2"
    assert read_question("What is -9 + 3?", "+-", "chain_sum") is not None
    product = read_question("What is 3 * 4?", "+-*/", "basic_arithmetic")
    assert product is not None and level(product) == "2x1"


def test_a_question_is_worked_as_the_task_says() -> None:
    for worked, text in [("counted", "3+2=4+1=5"), ("stated", "3 + 2 = 5")]:
        task = find_task("chain_sum", TaskOptions(difficulty={"worked": worked}))
        assert isinstance(task, AskedTask)
        problem = task.read("What is 3 + 2?")
        assert problem is not None
        assert problem.worked == f"<think>{text}</think><answer>5</answer>"
