"""A fixed list of problems, repeated, chosen and ordered; and practice on it that repeats itself."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.errors import ConfigError, DataError
from engine.model import Model
from engine.rollout import Answered
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.replay import Replay
from learning.practice.options import with_options
from learning.practice.requested import practice_settings
from learning.practice.sampling.rollouts import Drawn, Sample
from learning.practice.settings import FewSettings, PracticeSettings
from learning.practice.supply.arms import requested
from learning.practice.supply.few import SHOWN, FewSource, different
from learning.practice.supply.orders import blocks, hard_to_easy, shuffled
from learning.practice.supply.source import Fits
from learning.practice.trainer import GrpoTrainer
from learning.protocol.requests import Practise
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Score, Task, TaskOptions
from tests.practice_room import QUICK, same
from tests.sums import EasySums, Sums


def source(settings: FewSettings, seed: int = 0, task: Task | None = None) -> FewSource:
    return FewSource(task or Sums(99), random.Random(seed), lambda _: True, settings)


def drawn(successes: dict[str, tuple[float, ...]], problems: list[Problem]) -> Drawn:
    """One group for each of these problems; by prompt which of its answers are right."""
    answer = Answered(0, (5,), (-1.0,), "end")
    groups = tuple(
        tuple(Sample(p, answer, "", Score({"correct": one}, one)) for one in successes[p.prompt])
        for p in problems
    )
    return Drawn(((1,),) * len(groups), groups, 10, 0.1)


def test_an_example_has_a_number_whatever_the_seed() -> None:
    pool = different(Sums(99), 20, lambda _: True)
    assert len({problem.same for problem in pool}) == 20
    assert {problem.split for problem in pool} == {"train"}, "none of them is held out"
    for seed in (0, 7):
        made = source(FewSettings(examples=3, example=17), seed)
        assert made.numbers == (17, 18, 19)
        assert made.take(7) == [*pool[17:], *pool[17:], pool[17]]
        assert made.take(2) == pool[18:], "it goes on where it was"


def test_one_example_fills_a_batch_and_warm_up_has_others() -> None:
    made = source(FewSettings(examples=1))
    assert len({problem.prompt for problem in made.take(32)}) == 1
    assert len({problem.prompt for problem in made.worked(32)}) > 10


def test_problems_that_do_not_fit_have_no_number() -> None:
    task = Sums(99)
    short = different(task, 5, lambda problem: len(problem.prompt) < 9)
    assert all(len(problem.prompt) < 9 for problem in short)


def test_a_task_with_too_few_problems_says_so() -> None:
    with pytest.raises(DataError, match=r"only \d+ different problems were found, not 50"):
        source(FewSettings(examples=50), task=Sums(2))


def test_the_order_is_that_of_the_settings() -> None:
    chain = find_task("chain_sum", TaskOptions(difficulty={"max_terms": 4}))
    made = source(FewSettings(examples=30, order=hard_to_easy), task=chain)
    terms = [len(problem.form.split()) for problem in made.take(30)]
    assert terms == sorted(terms, reverse=True) and made.numbers != tuple(range(30))
    once, again, other = (
        source(FewSettings(examples=30, order=shuffled), seed).numbers for seed in (1, 1, 2)
    )
    assert once == again != other and sorted(once) == sorted(other)


def test_those_that_vary_most_are_kept_after_the_reference_run() -> None:
    made = source(FewSettings(examples=2, example=5, reference=3, candidates=4))
    problems = made.take(4)
    assert made.numbers == (5, 6, 7, 8)
    for step in range(3):
        low = (0.0, 1.0) if step % 2 else (0.0, 0.0)
        rates = [(1.0, 1.0), low, (0.0, 1.0), (float(step % 2),) * 2]
        right = {p.prompt: rate for p, rate in zip(problems, rates, strict=True)}
        made.learn([drawn(right, problems)])
    assert made.numbers == (8, 6), "the one that varies most first"
    assert made.take(3) == [problems[3], problems[1], problems[3]]
    assert made.variation(8) == pytest.approx(2**0.5 / 3)
    assert made.variation(5) == made.variation(7) == 0.0


def test_each_of_a_few_examples_is_told_with_its_variation() -> None:
    made = source(FewSettings(examples=2))
    first, second = made.take(2)
    assert made.arms() == (), "nothing was practised yet"
    for rate in (0.0, 1.0):
        right = {first.prompt: (1.0, 1.0), second.prompt: (rate, 1.0)}
        made.learn([drawn(right, [first, second, first])])
    one, two = made.arms()
    assert (one.name, one.groups, one.dead_groups, one.value) == ("example 0", 2, 2, 0.0)
    assert (two.name, two.groups, two.success, two.weight) == ("example 1", 1, 1.0, 0.5)
    assert two.value == pytest.approx(0.25)
    many = source(FewSettings(examples=SHOWN + 1))
    many.learn([])
    assert many.arms() == ()


def test_groups_that_could_not_be_judged_do_not_count() -> None:
    made = source(FewSettings(examples=1))
    [problem] = made.take(1)
    for failed in (True, False, False):
        part = drawn({problem.prompt: (1.0, 1.0)}, [problem])
        if failed:
            group = tuple(replace(s, score=Score.failure("late")) for s in part.groups[0])
            part = replace(part, groups=(group,))
        made.learn([part])
    assert made.variation(0) == 0.0 and made.arms()[0].success == 1.0


@pytest.mark.parametrize(
    "words",
    [("few.order=blocks",), ("few.example=3",), ("few.reference=5",)],
)
def test_a_choice_without_a_number_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        with_options(PracticeSettings(), words)
    assert "--examples 16" in caught.value.next_step
    assert with_options(PracticeSettings(), (*words, "few.examples=2")).few.examples == 2


def test_the_words_of_the_app_ask_for_examples() -> None:
    words = ("syllogism", "terms=5", "few.examples=4", "few.order=blocks")
    request = requested(words)
    few = practice_settings(PracticeSettings(), request).few
    assert (request.task, request.settings) == ("syllogism", ("terms=5",))
    assert (few.examples, few.order) == (4, blocks)


def test_more_examples_than_candidates_and_several_tasks_are_refused() -> None:
    with pytest.raises(ConfigError, match="candidates"):
        FewSettings(examples=9, reference=1, candidates=8)
    several = Practise("both", arms=("chain_sum", "syllogism"), options=("few.examples=2",))
    with pytest.raises(ConfigError, match="of one task"):
        practice_settings(PracticeSettings(), several)


@pytest.mark.slow
def test_the_same_list_seed_and_order_give_the_same_weights(
    tiny_model: Model, tiny_tokenizer: Tokenizer, replay: Replay
) -> None:
    few = FewSettings(examples=4, order=shuffled)
    settings = replace(QUICK, few=few)
    start = {name: value.clone() for name, value in tiny_model.state_dict().items()}

    def source_of(task: Task, rng: random.Random, fits: Fits) -> FewSource:
        return FewSource(task, rng, fits, few)

    ends = []
    for seed in (3, 3, 4):
        tiny_model.load_state_dict(start)
        trainer = GrpoTrainer(
            tiny_model, tiny_tokenizer, EasySums(9), replay, settings, seed=seed, source=source_of
        )
        updates = sum(trainer.step().updates for _ in range(3))
        ends.append({name: value.clone() for name, value in tiny_model.state_dict().items()})
        assert updates
    assert same(ends[0], ends[1]) and not same(ends[0], ends[2])
    assert not same(ends[0], start)
