"""Tasks that get harder as they are solved: the ladders, and what joins when."""

from __future__ import annotations

import random

import pytest

from learning.practice.supply.arms import difficulty, split_arm
from learning.practice.supply.ladder import below, climbed, climbs, joining, rungs_of
from learning.protocol.requests import Practise
from learning.rewards.ladders import LADDERS
from learning.rewards.registry import find_task
from learning.rewards.task import TaskOptions

THREE = "chain_sum max_terms=3 min_terms=3"
DIGITS = "chain_sum max_digits=2 min_digits=2"


@pytest.mark.parametrize("task", LADDERS)
def test_each_rung_is_a_task_of_its_own_that_begins_as_usual(task: str) -> None:
    rungs = rungs_of(task)
    assert rungs[0] == task and len(set(rungs)) == len(rungs) > 1
    asked = set()
    for rung in rungs:
        options = TaskOptions(difficulty=difficulty(split_arm(rung)[1]))
        problem = next(find_task(task, options).problems("held_out", random.Random(0)))
        assert problem.worked, "warm-up can bring the model there"
        asked.add(str(options.difficulty))
    assert len(asked) == len(rungs)


def test_what_was_reached_is_practised_and_what_was_typed_is_left_alone() -> None:
    request = Practise("x", arms=("chain_sum", "syllogism turned_share=0", "detective"), idle=True)
    assert climbs(request.arms)
    first = climbed(request, ())
    assert (first.arms, first.own_arms) == (request.arms, 1)
    assert first.task == "chain_sum, syllogism, detective"
    later = climbed(request, (THREE, "detective questions=3", "umbrella_talk weathers=3"))
    assert later.arms == (
        *("chain_sum", THREE),
        *("syllogism turned_share=0", "detective", "detective questions=3"),
    )
    assert later.own_arms == 2 and later.task == "chain_sum × 2, syllogism, detective × 2"
    typed = Practise("x", arms=("chain_sum max_terms=4", "gym/maze"))
    assert not climbs(typed.arms) and climbed(typed, (THREE,)).arms == typed.arms


def test_the_next_rung_joins_when_the_highest_is_solved() -> None:
    arms = ("chain_sum", "detective")
    assert joining(arms, {"chain_sum": 0.89, "detective": 0.3}, "steps") == ()
    assert joining(arms, {"chain_sum": 0.9, "detective": 0.3}, "stopped") == (THREE,)
    both = (*arms, THREE)
    assert joining(both, {"chain_sum": 1.0, THREE: 0.5}, "steps") == (), "the highest counts"
    assert joining(both, {"chain_sum": 0.2, THREE: 0.95}, "steps") == (DIGITS,)
    assert joining(("chain_sum max_terms=4",), {"chain_sum max_terms=4": 1.0}, "solved") == ()
    assert joining(arms, {}, "stopped") == (), "nothing was measured"


@pytest.mark.parametrize("ended", ["solved", "too_few"])
def test_it_joins_too_where_too_little_is_left_to_learn(ended: str) -> None:
    accuracy = {"chain_sum": 0.6, "detective": 0.4}
    assert joining(tuple(accuracy), accuracy, ended) == (THREE,), "detective is wrong, not solved"
    top = rungs_of("detective")
    assert joining(top, {top[-1]: 1.0}, ended) == (), "no rung is left"


def test_a_rung_knows_the_one_below() -> None:
    assert below(THREE) == "chain_sum" and below(DIGITS) == THREE
    assert below("chain_sum") == below("chain_sum max_terms=9") == below("gym/maze") == ""
