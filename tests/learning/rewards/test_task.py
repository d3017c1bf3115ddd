"""Scores, weights, problems and the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigError, NotFound
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, RewardWeights, Score, TaskOptions


def test_a_right_answer_beats_all_that_a_wrong_one_can_have() -> None:
    weights = RewardWeights(correct=1.0, format=0.5, length=0.4, wrong_too=True)
    wrong = Score.of({"correct": 0.0, "format": 1.0, "length": 1.0}, weights)
    right = Score.of({"correct": 1.0, "format": 0.0, "length": 0.0}, weights)
    assert right.total == pytest.approx(1.0 / 1.9)
    assert wrong.total == pytest.approx(0.9 / 1.9)
    assert right.total > wrong.total


@pytest.mark.parametrize(
    "weights",
    [
        {"correct": 0.0, "format": 0.0},
        {"correct": 1.0, "format": 1.0},
        {"correct": 1.0, "format": 0.5, "length": 0.5},
        {"format": -0.1},
        {"correct": float("inf")},
        {"correct": float("nan")},
        {"format": float("nan")},
    ],
)
def test_weights_that_pay_for_anything_but_correctness_are_refused(
    weights: dict[str, float],
) -> None:
    with pytest.raises(ConfigError, match="without being right"):
        RewardWeights(**weights)


def test_format_alone_is_not_paid_unless_asked_for() -> None:
    wrong = {"correct": 0.0, "format": 1.0}
    assert Score.of(wrong, RewardWeights()).total == 0.0
    assert Score.of(wrong, RewardWeights(wrong_too=True)).total == pytest.approx(0.1 / 1.1)


def test_an_absent_component_costs_nothing_and_an_unweighted_one_is_kept() -> None:
    score = Score.of({"correct": 1.0, "tests": 0.5}, RewardWeights())
    assert score.total == 1.0
    assert score.components["tests"] == 0.5


def test_a_failure_of_the_verifier_is_no_wrong_answer() -> None:
    score = Score.failure("out of time")
    assert (score.total, score.failed, score.correct) == (0.0, "out of time", False)
    assert Score.of({"correct": 0.0}, RewardWeights()).failed is None


@pytest.mark.parametrize("value", [1.1, -0.1, float("nan")])
def test_components_outside_their_range_are_a_bug(value: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        Score.of({"correct": value}, RewardWeights())


def test_the_split_depends_on_the_words_alone() -> None:
    splits = [Problem(f"What is {i} + 2?", str(i + 2)).split for i in range(1000)]
    assert 140 < splits.count("held_out") < 260
    for i in range(50):
        assert Problem(f"  what IS\n{i} + 2?", None).split == splits[i]


def test_an_unknown_task_is_named_with_those_near() -> None:
    with pytest.raises(NotFound, match="practice --list"):
        find_task("chain_summ")


@pytest.mark.parametrize(
    "name", ["chain_sum", "basic_arithmetic", "syllogism", "propositional_logic", "gym/maze"]
)
def test_a_task_that_makes_its_own_problems_says_that_it_takes_no_data(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} makes its own .*--data.*gsm8k, .*mbpp"):
        find_task(name, TaskOptions(data=Path("/does/not/exist")))
    assert find_task("gsm8k", TaskOptions(data=Path("/does/not/exist"))).name == "gsm8k"
