"""When practice begins with worked examples."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.curriculum.methods import ArmChoice, Uniform
from learning.curriculum.settings import CurriculumSettings
from learning.memory.replay import Replay
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.supply.mixture import CurriculumSource, TaskMixture
from learning.practice.supply.source import Fits
from learning.practice.trainer import GrpoTrainer
from learning.rewards.task import Task
from tests.learning.practice.test_trainer import TINY
from tests.sums import Sums, Unworked


@pytest.mark.parametrize(
    ("right", "enough", "cold"), [(1, 0.8, True), (2, 0.8, False), (1, 0.1, False)]
)
def test_it_begins_with_warm_up_where_fewer_than_a_fifth_are_solved(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    replay: Replay,
    right: int,
    enough: float,
    cold: bool,
) -> None:
    settings = replace(TINY, warm_up=replace(TINY.warm_up, enough=enough))
    session = GrpoTrainer(tiny_model, tiny_tokenizer, Sums(), replay, settings)
    assert session.is_cold(HeldOut(tuple(n < right for n in range(10)), {})) is cold


@pytest.mark.parametrize(
    ("easy", "hard", "bare", "each", "cold"),
    [
        (5, 5, 0, False, False),
        (1, 1, 9, False, True),
        (5, 1, 9, False, False),
        (5, 1, 9, True, True),
    ],
)
def test_of_several_tasks_those_count_that_warm_up_can_teach(
    tiny_model: Model,
    tiny_tokenizer: Tokenizer,
    replay: Replay,
    easy: int,
    hard: int,
    bare: int,
    each: bool,
    cold: bool,
) -> None:
    """Two difficulties of one task, and a task without worked answers; right answers of ten to each. each:
    every difficulty has to be warm."""
    right = {"sums": easy, "sums most=99": hard, "bare": bare}
    tasks = {"sums": Sums(9), "sums most=99": Sums(99), "bare": Unworked(9)}

    def source(task: Task, rng: random.Random, fits: Fits) -> CurriculumSource:
        choice = ArmChoice(3, CurriculumSettings(method=Uniform))
        assert isinstance(task, TaskMixture)
        return CurriculumSource(task, choice, rng, fits, warm_each=each)

    settings = replace(TINY, warm_up=replace(TINY.warm_up, enough=0.8))
    session = GrpoTrainer(
        tiny_model, tiny_tokenizer, TaskMixture(tasks), replay, settings, source=source
    )
    arms = [arm for arm in right for _ in range(10)]
    solved = [number < right[arm] for arm in right for number in range(10)]
    assert session.is_cold(HeldOut(tuple(solved), {}, tuple(arms))) is cold
