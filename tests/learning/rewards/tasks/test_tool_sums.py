"""learning.rewards.tasks.tool_sums: problems with a tool and without."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest

from engine.errors import ConfigError
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.tool_sums import DESCRIPTION
from learning.rewards.tools import ToolTask


def drawn(count: int, **difficulty: Any) -> tuple[ToolTask, list[Problem]]:
    task = find_task("tool_sums", TaskOptions(difficulty=difficulty))
    assert isinstance(task, ToolTask)
    return task, list(islice(task.problems("train", random.Random(0)), count))


def test_sums_and_products_of_three_digits_with_the_program_that_does_them() -> None:
    _, problems = drawn(200)
    for problem in problems:
        assert problem.prompt.startswith(f"{DESCRIPTION} What is ")
        a, sign, b = problem.prompt.removesuffix("?").split()[-3:]
        assert len(a) == len(b) == 3
        value = int(a) + int(b) if sign == "+" else int(a) * int(b)
        assert problem.truth == str(value)
        program = f"print({a} {sign} {b})"
        assert problem.worked == (
            f"<tool>{program}</tool><result>{value}</result><answer>{value}</answer>"
        )
    assert {problem.form for problem in problems} == {"+", "*"}


def test_some_worked_answers_check_the_first_call_by_a_second() -> None:
    task, problems = drawn(200, again=0.2)
    twice = [problem for problem in problems if (problem.worked or "").count("<tool>") == 2]
    assert 20 <= len(twice) <= 60
    a, sign, b = twice[0].prompt.removesuffix("?").split()[-3:]
    value = twice[0].truth
    assert twice[0].worked == (
        f"<tool>print({a} {sign} {b})</tool><result>{value}</result>"
        f"<tool>print({b} {sign} {a})</tool><result>{value}</result><answer>{value}</answer>"
    )
    assert task.limit == 5


def test_a_mirror_image_is_the_same_problem() -> None:
    _, problems = drawn(400, digits=1, operators="*")
    split = {}
    for problem in problems:
        split.setdefault(problem.key, set()).add(problem.split)
    assert all(len(found) == 1 for found in split.values())
    assert len(split) < len({problem.prompt for problem in problems})


def test_without_calls_there_is_no_tool_in_question_or_answer() -> None:
    task, problems = drawn(20, calls=0)
    for problem in problems:
        assert problem.prompt.startswith("What is ")
        assert problem.worked == f"<answer>{problem.truth}</answer>"
    assert task.refused(())
    task.open()  # needs no sandbox


@pytest.mark.parametrize(
    "difficulty",
    [{"digits": 0}, {"digits": 10}, {"operators": "-"}, {"calls": 6}, {"calls": -1}, {"again": 2}],
)
def test_settings_out_of_range_are_told(difficulty: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        drawn(1, **difficulty)
