"""What all tasks have in common: nothing raises, failures are apart, every task can be made."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.errors import ConfigError, NotFound
from learning.rewards.registry import TASTE, find_task, tasks
from learning.rewards.sandbox.pool import SandboxOutcome
from learning.rewards.task import Problem, RewardWeights, TaskOptions
from learning.rewards.verifiers.answer import ParsedAnswer
from learning.rewards.verifiers.verified import (
    ScoringFailed,
    Verdict,
    VerifiedTask,
    convert,
    generated,
    listed,
    one_by_one,
    verdict_of,
)

ROOT = Path(__file__).parents[4]
HOSTILE = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\u202e6\u202c",
    "<answer>" * 1000,
    "</think>" * 1000,
    "<answer>nan</answer>",
    "<answer>inf</answer>",
    "<answer>1e99999999999</answer>",
    "<answer>9**9**9</answer>",
    "<answer>__import__('os').system('true')</answer>",
    "9" * 100_000,
    "\n" * 100_000,
    "<answer>\\boxed{" + "{" * 10_000,
    "a" * 2_000_000,
]


def task_of(check: object, **rest: object) -> VerifiedTask:
    return VerifiedTask("chain_sum", listed(list), check, **rest)  # type: ignore[arg-type]


def test_what_a_check_raises_is_a_failure_of_that_answer_alone() -> None:
    def judge(_: object, answer: ParsedAnswer) -> float:
        if answer.said == "bad":
            raise RecursionError("too deep")
        return float(answer.said == "good")

    good, bad, wrong = task_of(one_by_one(judge)).score(Problem("", ""), ["good", "bad", "wrong"])
    assert good.correct and good.failed is None
    assert bad.failed == "RecursionError: too deep" and bad.total == 0.0
    assert wrong.failed is None and wrong.total == 0.0


def test_failed_and_wrong_are_told_apart() -> None:
    def check(_: Problem, read: Sequence[ParsedAnswer], texts: Sequence[str]) -> list[Verdict]:
        return [ScoringFailed("killed") if text == "x" else 0.0 for text in texts]

    first, second = task_of(check).score(Problem("", ""), ["x", "y"])
    assert (first.failed, second.failed) == ("killed", None)
    assert verdict_of(SandboxOutcome(failure="timeout", detail="no end")) == ScoringFailed(
        "timeout: no end"
    )
    assert verdict_of(SandboxOutcome(value=True)) == 1.0


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (
            SandboxOutcome(failure="timeout", detail="x", busy=1.9),
            0.0,
        ),  # two seconds of calculation
        (
            SandboxOutcome(failure="timeout", detail="x", busy=0.4),
            ScoringFailed("timeout: x"),
        ),  # the machine's fault
        (SandboxOutcome(failure="memory"), 0.0),
        (SandboxOutcome(failure="crashed"), 0.0),
        (SandboxOutcome(failure="too much output"), 0.0),
        (SandboxOutcome(failure="killed"), ScoringFailed("killed")),
        (SandboxOutcome(failure="error", detail="x"), ScoringFailed("error: x")),
        (SandboxOutcome(failure="no sandbox"), ScoringFailed("no sandbox")),
    ],
)
def test_what_is_too_large_is_wrong_and_not_a_failure(
    outcome: SandboxOutcome, verdict: Verdict
) -> None:
    assert verdict_of(outcome, 2.0) == verdict


def test_components_are_recorded_beside_each_other() -> None:
    task = task_of(one_by_one(lambda *_: {"correct": 1.0, "partial": 1.0}), length=10)
    [score] = task.score(Problem("", ""), ["<answer>5</answer>"])
    assert score.components == {
        "correct": 1.0,
        "partial": 1.0,
        "format": 0.5,
        "length": pytest.approx(0.2),
    }
    assert score.total == pytest.approx((1.0 + 0.05) / 1.1)


def test_weights_are_those_of_the_options() -> None:
    weights = RewardWeights(format=0.5, length=0.25, wrong_too=True)
    task = find_task("chain_sum", TaskOptions(weights=weights, length=4))
    [score] = task.score(Problem("", "5"), ["<think>x</think><answer>6</answer>"])
    assert score.total == pytest.approx(0.5 / 1.75)


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("chain_sum", "5"),
        ("basic_arithmetic", "5"),
        ("syllogism", "Yes"),
        ("propositional_logic", ["Q"]),
        ("gsm8k", "5"),
        ("svamp", "5"),
        ("triviaqa", ["Lennon", ""]),
    ],
)
def test_no_text_raises_and_none_is_right(name: str, truth: object) -> None:
    scores = find_task(name).score(Problem("", truth), HOSTILE)
    assert [s.total for s in scores] == [0.0] * len(HOSTILE)
    assert all(set(s.components) == {"correct", "format", "length"} for s in scores)
    assert all(s.failed is None for s in scores)


def test_every_task_is_named_described_and_can_be_made() -> None:
    assert len(tasks()) >= 110
    for name, line in tasks().items():
        assert line and len(line) < 90 and "\n" not in line
        if name == TASTE:  # needs an owner: tests/learning/rewards/tasks/test_taste.py
            continue
        if name.startswith("gym/"):
            pytest.importorskip("reasoning_gym")
        task = find_task(name)
        assert (task.name, task.describe()) == (name, line)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("chain_summ", "chain_sum"),
        ("GSM8K", "gsm8k"),
        ("sudoku", "gym/sudoku"),
        ("mazes", "gym/maze"),
    ],
)
def test_names_near_by(name: str, near: str) -> None:
    with pytest.raises(NotFound, match=f"did you mean .*{near}"):
        find_task(name)


def test_what_is_listed_ends_for_held_out_and_is_an_error_without_training() -> None:
    problems = [Problem(f"{i}", i) for i in range(40)]
    held_out = [p for p in problems if p.split == "held_out"]
    supply = listed(lambda: held_out)
    assert sorted(p.truth for p in supply("held_out", random.Random(0))) == [
        p.truth for p in held_out
    ]
    with pytest.raises(ConfigError, match="no problem to train on"):
        next(supply("train", random.Random(0)))


def test_what_is_drawn_in_vain_ends() -> None:
    supply = generated(lambda _: None)
    assert list(supply("held_out", random.Random(0))) == []
    with pytest.raises(ConfigError, match="no problem to train on"):
        next(supply("train", random.Random(0)))


@pytest.mark.parametrize(
    ("value", "like", "converted"),
    [
        ("3", 1, 3),
        ("0.5", 1.0, 0.5),
        (1, 1.0, 1.0),
        ("yes", False, True),
        ("False", True, False),
        ("a,b", ("c",), ("a", "b")),
        (["a"], ("c",), ("a",)),
        ("1,2", [3], [1, 2]),
        (["0.5", 1], (1.0,), (0.5, 1.0)),
        ([[1]], [], [[1]]),
        ([["a"], "b"], ["c", ("d",)], [["a"], "b"]),  # of several kinds: any
        ("x", "y", "x"),
    ],
)
def test_settings_become_what_the_default_is(
    value: object, like: object, converted: object
) -> None:
    assert convert(value, like, "x") == converted


@pytest.mark.parametrize(
    ("value", "like"),
    [("x", 1), (1.5, 1), (True, 1), ("maybe", True), (1, "a"), (10**400, 1.0)]
    + [([["+"]], ("+",)), ((1,), ("+",)), ("a,b", [1]), ([None], ["a"]), ({"a": 1}, ("a",))],
)
def test_settings_of_another_kind_are_refused(value: object, like: object) -> None:
    with pytest.raises(ConfigError, match="give a value like"):
        convert(value, like, "x")


def test_scores_and_problems_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Problem("", "").truth = "5"  # type: ignore[misc]


def test_nothing_here_brings_torch_or_what_evaluates() -> None:
    """But for the reward model, which is a network, and the task that is paid by it."""
    names = sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "learning" / "rewards").rglob("*.py")
        if not file.stem.startswith(("__init__", "reward_", TASTE)) and "inside" not in file.stem
    )
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(names)}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "learning.rewards.tasks.gym" in loaded
    assert not {"torch", "numpy", "sympy", "math_verify", "reasoning_gym", "matplotlib"} & set(
        loaded
    )
