"""Arms as one types them."""

from __future__ import annotations

import pytest

from engine.errors import ConfigError, NotFound, VidyaError
from learning.practice.report import measure_name
from learning.practice.supply.arms import (
    arm_name,
    difficulty,
    label,
    parse_arms,
    requested,
    split_arm,
)
from learning.practice.supply.typed import split_typed
from learning.protocol.requests import Practise
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions


def test_settings_belong_to_the_task_before_them_and_options_to_all() -> None:
    words = ["chain_sum", "max_terms=3", "lr=1e-5", "max_digits=2,", "syllogism", ",", "chain_sum"]
    found = parse_arms(words)
    assert found.arms == ("chain_sum max_digits=2 max_terms=3", "syllogism", "chain_sum")
    assert found.options == ("lr=1e-5",)
    assert label(found.arms) == "chain_sum × 2, syllogism"


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ("max_terms=3 chain_sum", ConfigError, "before any task"),
        ("chain_sum chainsum", NotFound, "chainsum"),
        ("syllogism syllogism", ConfigError, "twice"),
        ("chain_sum a=1 b=2 chain_sum b=2 a=1", ConfigError, "twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: str, kind: type[VidyaError], said: str) -> None:
    with pytest.raises(kind, match=said):
        parse_arms(words.split())


def test_one_task_is_a_request_as_ever_and_several_have_arms() -> None:
    one = requested(["syllogism", "forms=2", "groups=4"], ["x=1"])
    assert one == Practise("syllogism", settings=("forms=2", "x=1"), options=("groups=4",))
    two = requested(["chain_sum", "max_terms=3", "syllogism"], ["x=1"])
    assert two == Practise(
        "chain_sum, syllogism", arms=("chain_sum max_terms=3 x=1", "syllogism x=1")
    )
    with pytest.raises(ConfigError, match="no task"):
        requested(["groups=4"])


@pytest.mark.parametrize(
    ("task", "setting", "name"),
    [
        ("syllogism", "forms=all,some not", 'syllogism "forms=all,some not"'),
        (
            "basic_arithmetic",
            'operators=["+", "-"]',
            'basic_arithmetic operators=["+", "-"]',
        ),
        ("basic_arithmetic", 'operators=["+","-"]', 'basic_arithmetic operators=["+","-"]'),
        ("chain_sum", "max_terms=3", "chain_sum max_terms=3"),
    ],
)
def test_a_setting_may_hold_spaces_and_its_arm_can_be_typed(
    task: str, setting: str, name: str
) -> None:
    assert requested([task], [setting]) == requested([task, setting])
    assert requested([task, setting]) == Practise(task, settings=(setting,))
    assert arm_name(task, [setting]) == name and split_arm(name) == (task, (setting,))
    assert requested(split_typed(f"{name}, propositional_logic")).arms == (
        name,
        "propositional_logic",
    )
    assert measure_name(task, "steps", [setting]) == f"practice/{name}/steps"
    find_task(task, TaskOptions(difficulty=difficulty([setting]))).close()
