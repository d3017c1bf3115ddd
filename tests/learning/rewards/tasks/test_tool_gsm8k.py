"""learning.rewards.tasks.tool_gsm8k: calculations of the data set become calls with true results."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from engine.errors import ConfigError
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions
from learning.rewards.tasks.tool_gsm8k import calculated, worked_with_calls
from learning.rewards.tasks.tool_sums import DESCRIPTION
from learning.rewards.tools import ToolTask

WAY = "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\nShe sold 48+24 = <<48+24=72>>72 clips.\n"


def task(folder: Path, **difficulty: object) -> ToolTask:
    rows = [
        {"question": f"Natalia sold {n} + 48/2 clips. How many?", "answer": f"{WAY}#### 72"}
        for n in range(20)
    ]
    file = folder / "train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = find_task("tool_gsm8k", TaskOptions(data=file, difficulty=difficulty))
    assert isinstance(found, ToolTask)
    return found


def test_each_marked_calculation_is_a_call_with_what_python_prints() -> None:
    assert worked_with_calls(WAY, "72", 5) == (
        "<think>Natalia sold 48/2 =</think><tool>print(48/2)</tool><result>24.0</result>"
        "<think>clips in May. She sold 48+24 =</think><tool>print(48+24)</tool><result>72</result>"
        "<answer>72</answer>"
    )


def test_what_is_beyond_the_limit_or_no_formula_stays_as_words() -> None:
    assert worked_with_calls(WAY, "72", 1) == (
        "<think>Natalia sold 48/2 =</think><tool>print(48/2)</tool><result>24.0</result>"
        "<think>clips in May. She sold 48+24 = 72 clips.</think><answer>72</answer>"
    )
    odd = "It is x = <<2x=8>>8, so $<<1,000*2=2000>>2,000."
    assert worked_with_calls(odd, "2000", 5) == (
        "<think>It is x = 8, so $</think><tool>print(1000*2)</tool><result>2000</result>"
        "<answer>2000</answer>"
    )
    assert worked_with_calls("None.", "0", 5) == "<answer>0</answer>"


@pytest.mark.parametrize(
    ("formula", "printed"),
    [("7*(3-1)", "14"), ("1/4", "0.25"), ("-2+.5", "-1.5"), ("6/3", "2.0")],
)
def test_formulas_are_computed_as_python_does(formula: str, printed: str) -> None:
    assert calculated(formula) == printed


@pytest.mark.parametrize(
    "formula", ["", "2x", "1/0", "9**9", "f(2)", "'a'*9", "True+1", "05+1", "(" * 999, "1;2"]
)
def test_what_is_no_formula_has_no_result(formula: str) -> None:
    assert calculated(formula) is None


def test_problems_are_those_of_the_file_with_the_tool_described(tmp_path: Path) -> None:
    found = task(tmp_path, calls=1)
    problems = list(found.problems("held_out", random.Random(0)))
    assert problems and found.limit == 1
    assert all(one.prompt.startswith(f"{DESCRIPTION} Natalia sold") for one in problems)
    assert all((one.worked or "").count("<tool>") == 1 for one in problems)
    with pytest.raises(ConfigError, match="calls is 6"):
        task(tmp_path, calls=6)


def test_a_worked_answer_is_right_and_its_results_are_true(tmp_path: Path) -> None:
    found = task(tmp_path)
    problem = next(found.problems("held_out", random.Random(0)))
    assert problem.worked is not None
    (score,) = found.score(problem, [problem.worked])
    assert score.failed is None and score.success
    assert score.components["tool_execution"] == 1.0 and score.components["python_count"] == 2.0
    printed = [call.result for call in found.execute(["print(48/2)", "print(48+24)"])]
    assert all(f"<result>{one}</result>" in problem.worked for one in printed)
    found.close()
