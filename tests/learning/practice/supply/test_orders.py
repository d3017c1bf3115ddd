"""Orders keep every problem and put them where their names say."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice

import pytest

from engine.errors import ConfigError
from learning.practice.supply.orders import (
    as_they_come,
    blocks,
    easy_to_hard,
    hard_to_easy,
    length,
    shuffled,
)
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, TaskOptions

ORDERS = (as_they_come, shuffled, easy_to_hard, hard_to_easy, blocks)


def drawn(task: str, count: int = 60, **difficulty: int) -> list[Problem]:
    made = find_task(task, TaskOptions(difficulty=difficulty))
    return list(islice(made.problems("train", random.Random(1)), count))


@pytest.mark.parametrize("order", ORDERS)
def test_each_keeps_every_problem_and_repeats_itself(order: Callable[..., list[Problem]]) -> None:
    problems = drawn("propositional_logic")
    once, again = (order(problems, random.Random(3)) for _ in range(2))
    assert once == again and sorted(map(repr, once)) == sorted(map(repr, problems))
    assert (once == problems) == (order is as_they_come)


def test_longer_sums_are_harder() -> None:
    problems = drawn("chain_sum", min_terms=2, max_terms=4)
    terms = [len(p.form.split()) for p in easy_to_hard(problems, random.Random(0))]
    assert terms == sorted(terms) and set(terms) == {1, 2, 3}
    hardest = hard_to_easy(problems, random.Random(0))
    assert [length(p) for p in hardest] == sorted(map(length, problems), reverse=True)


@pytest.mark.parametrize(
    ("task", "form"), [("syllogism", "all + no"), ("propositional_logic", "or, if")]
)
def test_blocks_put_forms_together(task: str, form: str) -> None:
    problems = drawn(task, 200)
    forms = [p.form for p in blocks(problems, random.Random(0))]
    changes = sum(one != other for one, other in zip(forms, forms[1:], strict=False))
    assert form in forms and changes == len(set(forms)) - 1 > 3
    assert forms[0] == problems[0].form


def test_without_forms_there_are_no_blocks() -> None:
    with pytest.raises(ConfigError, match="no forms"):
        blocks([Problem("a", 1), Problem("b", 2)], random.Random(0))
