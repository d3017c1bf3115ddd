"""Rows as the sets' authors publish them, as problems; and that all of it holds without them."""

from __future__ import annotations

import itertools
import json
import random
import sys
import types
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigError, DataError
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.data_sets import SETS

GSM8K = {
    "question": "Ann had 48 clips and gave half away. How many are left?",
    "answer": "She gave away 48/2 = <<48/2=24>>24.\nSo 48-24 = <<48-24=24>>24 are left.\n#### 24",
}
SVAMP = {
    "ID": "chal-1",
    "Body": "Each pack costs 76 dollars, less a discount of 25 dollars",
    "Question": "How much is a pack?",
    "Equation": "( 76.0 - 25.0 )",
    "Answer": 51.0,
}
MATH = {
    "problem": "What is $\\frac{1}{4}+\\frac14$?",
    "solution": "Adding gives $\\boxed{\\frac{1}{2}}$.",
    "level": "Level 1",
    "type": "Algebra",
}
TRIVIA = {
    "question": "Which Beatle sang Imagine?",
    "answer": {"value": "John Lennon", "aliases": ["Lennon", ""], "normalized_aliases": ["lennon"]},
}
TRIVIA_SITE = {
    "Question": "Which Beatle sang Imagine?",
    "Answer": {"Value": "John Lennon", "Aliases": ["Lennon"], "NormalizedAliases": ["lennon"]},
}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def double(x):\n    """Twice x.\n    """\n',
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(0) == 0\n",
    "entry_point": "double",
}
MBPP = {
    "task_id": 1,
    "text": "Write a function to double a number.",
    "code": "def double(x):\r\n  return 2 * x",
    "test_list": ["assert double(2) == 4", "assert double(0) == 0"],
    "test_setup_code": "",
    "challenge_test_list": [],
}


def load(tmp_path: Path, name: str, *rows: dict[str, Any], **difficulty: object) -> list[Problem]:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    task = find_task(name, TaskOptions(data=file, difficulty=difficulty))
    found = list(task.problems("held_out", random.Random(0)))
    train = task.problems("train", random.Random(0))
    return found or [next(train)]


@pytest.mark.parametrize(
    ("name", "row", "truth"),
    [
        ("gsm8k", GSM8K, "24"),
        ("svamp", SVAMP, "51"),
        ("math", MATH, "\\frac{1}{2}"),
        ("math", MATH | {"answer": "0.5"}, "0.5"),
        ("math", MATH | {"solution": "We get $\\boxed 9$."}, "9"),  # so in some of its rows
        ("triviaqa", TRIVIA, ["John Lennon", "Lennon", ""]),
        ("triviaqa", TRIVIA_SITE, ["John Lennon", "Lennon"]),
    ],
)
def test_rows_become_problems_whose_worked_answers_are_right(
    tmp_path: Path, name: str, row: dict[str, Any], truth: object
) -> None:
    [problem] = load(tmp_path, name, row)
    assert problem.truth == truth
    assert problem.source.endswith("rows.jsonl:1")
    task = find_task(name)
    assert problem.worked is not None
    right, *wrong = task.score(
        problem, [problem.worked, "", " ", "<answer></answer>", "<answer>7</answer>"]
    )
    assert right.correct and right.failed is None
    assert [s.total for s in wrong] == [0.0] * 4


def test_the_worked_answer_of_gsm8k_has_no_calculator_in_it(tmp_path: Path) -> None:
    [problem] = load(tmp_path, "gsm8k", GSM8K)
    assert problem.worked == (
        "<think>She gave away 48/2 = 24.\nSo 48-24 = 24 are left.</think><answer>24</answer>"
    )


def test_svamp_is_one_text_and_its_equation_the_way(tmp_path: Path) -> None:
    [problem] = load(tmp_path, "svamp", SVAMP)
    assert problem.prompt == (
        "Each pack costs 76 dollars, less a discount of 25 dollars. How much is a pack?"
    )
    assert problem.worked == "<think>76 - 25 = 51</think><answer>51</answer>"


@pytest.mark.parametrize(
    ("equation", "answer", "way"),
    [
        ("( 76.0 - 25.0 )", 51.0, "76 - 25 = 51"),
        ("( ( 33.0 - 24.0 ) / 9.0 )", 1.0, "( 33 - 24 ) / 9 = 1"),
        ("( 9.0 * ( 33.0 - 24.0 ) )", 81.0, "9 * ( 33 - 24 ) = 81"),
        ("( 3.0 + 1.0 ) * ( 4.0 - 2.0 )", 8.0, "( 3 + 1 ) * ( 4 - 2 ) = 8"),
        ("( ( 3.0 + 1.0 ) * ( 4.0 - 2.0 ) )", 8.0, "( 3 + 1 ) * ( 4 - 2 ) = 8"),
        ("7.0", 7.0, "7 = 7"),
        ("( 10.05 - 0.05 )", 10.0, "10.05 - 0.05 = 10"),
    ],
)
def test_the_way_of_svamp_is_an_equation_that_is_true(
    tmp_path: Path, equation: str, answer: float, way: str
) -> None:
    [problem] = load(tmp_path, "svamp", SVAMP | {"Equation": equation, "Answer": answer})
    assert problem.worked == f"<think>{way}</think><answer>{answer:.0f}</answer>"
    left, right = way.split(" = ")
    assert eval(left) == pytest.approx(float(right))


def test_questions_of_triviaqa_whose_answers_are_secret_are_left_out(tmp_path: Path) -> None:
    secret = {"question": "Who?", "answer": {"value": "<unk>", "aliases": []}}
    assert [p.prompt for p in load(tmp_path, "triviaqa", secret, TRIVIA)] == [TRIVIA["question"]]
    with pytest.raises(DataError, match="holds no problem of triviaqa"):
        load(tmp_path, "triviaqa", secret)
    named = {"question": "Who?", "answer": {"value": "<unk>", "aliases": ["unk"]}}
    assert load(tmp_path, "triviaqa", named)[0].truth == ["<unk>", "unk"]


def test_of_triviaqa_the_hub_gives_the_splits_that_have_answers() -> None:
    files = ["train-00000-of-00001", "validation-00000-of-00001", "test-00000-of-00001"]
    fetched = [
        name
        for name in files
        if any(fnmatch(f"rc.nocontext/{name}.parquet", p) for p in SETS["triviaqa"].files)
    ]
    assert fetched == files[:2]


@pytest.mark.parametrize(("name", "row"), [("humaneval", HUMANEVAL), ("mbpp", MBPP)])
def test_programs_are_run(tmp_path: Path, name: str, row: dict[str, Any]) -> None:
    [problem] = load(tmp_path, name, row)
    task = find_task(name)
    try:
        assert problem.worked is not None
        wrong = "<answer>\n```python\ndef double(x):\n    return 4\n```\n</answer>"
        exits = "```python\nimport sys\nsys.exit(0)\n```"
        scores = task.score(problem, [problem.worked, wrong, exits, "", "double"])
        assert [s.correct for s in scores] == [True, False, False, False, False]
    finally:
        task.close()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gsm8k", {"question": "?"}),
        ("gsm8k", {"question": "?", "answer": "24"}),
        ("gsm8k", {"question": "?", "answer": "#### many"}),
        ("gsm8k", {"question": " ", "answer": "#### 4"}),
        ("gsm8k", {"question": 5, "answer": "#### 4"}),
        ("svamp", SVAMP | {"Answer": "many"}),
        ("svamp", {"Body": 5, "Question": "?", "Answer": 5}),
        ("math", MATH | {"solution": "none"}),
        ("math", MATH | {"solution": None}),
        ("math", MATH | {"solution": "\\boxed{}"}),
        ("triviaqa", {"question": "?", "answer": {"value": "", "aliases": []}}),
        ("triviaqa", {"question": "?", "answer": "x"}),
        ("humaneval", {"prompt": "def f():\n"}),
        ("mbpp", {"text": "?"}),
    ],
)
def test_rows_that_are_none_of_the_set_say_where(
    tmp_path: Path, name: str, row: dict[str, Any]
) -> None:
    with pytest.raises(DataError, match="rows.jsonl:1") as raised:
        load(tmp_path, name, row)
    assert "object" not in raised.value.what, "Python's own words say nothing to an owner"


def test_splits_share_nothing_and_training_goes_on_for_ever(tmp_path: Path) -> None:
    rows = [GSM8K | {"question": f"What is {i} and 4?"} for i in range(60)]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows + rows), "utf-8")
    task = find_task("gsm8k", TaskOptions(data=file))
    held_out = [p.prompt for p in task.problems("held_out", random.Random(0))]
    train = [p.prompt for p in itertools.islice(task.problems("train", random.Random(0)), 200)]
    assert len(held_out) == len(set(held_out)) and len(set(train)) + len(held_out) == 60
    assert not set(train) & set(held_out)
    first, second = train[: len(set(train))], train[len(set(train)) : 2 * len(set(train))]
    assert sorted(first) == sorted(second) and first != second


def test_long_questions_are_left_out_where_that_is_asked(tmp_path: Path) -> None:
    rows = [GSM8K | {"question": f"{i}" + " and so on" * i} for i in range(30)]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    task = find_task("gsm8k", TaskOptions(data=file, difficulty={"max_chars": "100"}))
    problems = list(itertools.islice(task.problems("train", random.Random(0)), 50))
    assert {len(p.prompt) <= 100 for p in problems} == {True}
    assert {p.worked for p in problems} != {None}
    with pytest.raises(ConfigError, match="max_chars"):
        find_task("gsm8k", TaskOptions(difficulty={"longest": 5}))


def test_a_file_without_problems_and_no_network_are_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="holds no problem of gsm8k"):
        load(tmp_path, "gsm8k")

    def snapshot_download(*_: object, **__: object) -> str:
        raise ConnectionError("no network")

    fake = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    with pytest.raises(DataError, match="openai/gsm8k cannot be fetched.*--data"):
        next(find_task("gsm8k").problems("train", random.Random(0)))
