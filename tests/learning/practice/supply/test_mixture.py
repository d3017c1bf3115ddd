"""Several tasks as one, and the source that a curriculum chooses for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import pytest

from engine.errors import ConfigError, DataError
from engine.rollout import Answered
from learning.curriculum.methods import ArmChoice, Boltzmann, Uniform
from learning.curriculum.settings import CurriculumSettings
from learning.practice.sampling.rollouts import Drawn, HeldOut, Sample
from learning.practice.supply.mixture import CurriculumSource, TaskMixture, mean_advantage
from learning.rewards.registry import find_task
from learning.rewards.task import Problem, Score, TaskOptions
from tests.sums import EasySums, Sums, Unworked

GREEDY = CurriculumSettings(method=Boltzmann, temperature=0.05)


def two() -> TaskMixture:
    return TaskMixture({"easy": EasySums(9), "hard most=99": Sums(99)})


def source(mixture: TaskMixture, choice: ArmChoice | None = None) -> CurriculumSource:
    choice = choice or ArmChoice(len(mixture.tasks), CurriculumSettings(method=Uniform))
    return CurriculumSource(mixture, choice, random.Random(0), lambda _: True)


def at_night(mixture: TaskMixture) -> CurriculumSource:
    """Every arm has to be warm."""
    choice = ArmChoice(len(mixture.tasks), CurriculumSettings(method=Uniform))
    return CurriculumSource(mixture, choice, random.Random(0), lambda _: True, warm_each=True)


def answered(problem: Problem, *right: float) -> tuple[Sample, ...]:
    """A group with these rewards."""
    answer = Answered(0, (5,), (-1.0,), "end")
    return tuple(
        Sample(problem, answer, "", Score({"correct": one}, one)) for one in map(float, right)
    )


def drawn(*groups: Sequence[Sample]) -> Drawn:
    return Drawn(((1,),) * len(groups), tuple(tuple(group) for group in groups), 10, 0.1)


def test_held_out_problems_are_an_even_mixture_and_end() -> None:
    mixture = TaskMixture({"few": Sums(3), "many": Sums(9)})
    found = list(mixture.problems("held_out", random.Random(0)))
    arms = [problem.arm for problem in found]
    few = arms.count("few")
    assert 0 < few < arms.count("many")
    assert arms[: 2 * few] == ["few", "many"] * few and set(arms[2 * few :]) == {"many"}
    assert {problem.split for problem in found} == {"held_out"}
    assert found == list(mixture.problems("held_out", random.Random(0)))


def test_each_problem_is_scored_by_its_own_task_and_all_are_closed() -> None:
    mixture = two()
    by_arm = {p.arm: p for p in islice(mixture.problems("train", random.Random(1)), 2)}
    wrong = "It is 12345."
    assert mixture.score(by_arm["easy"], [wrong])[0].correct, "any number will do"
    assert not mixture.score(by_arm["hard most=99"], [wrong])[0].correct
    mixture.close()
    assert [task.closed for task in mixture.tasks.values()] == [1, 1]  # type: ignore[attr-defined]
    assert mixture.name == "easy, hard"


def test_the_curriculum_turns_to_what_can_be_learned_and_figures_tell_it() -> None:
    mixture = two()
    made = source(mixture, ArmChoice(2, GREEDY))
    assert made.arms() == (), "nothing was practised yet"
    problems = {p.arm: p for p in made.take(40)}
    easy, hard = problems["easy"], problems["hard most=99"]
    for _ in range(4):
        made.learn([drawn(answered(easy, 1, 1, 1, 1), answered(hard, 1, 0, 1, 0))])
    first, second = made.arms()
    assert (first.name, first.groups, first.dead_groups, first.success) == ("easy", 1, 1, 1.0)
    assert (second.name, second.dead_groups, second.success) == ("hard most=99", 0, 0.5)
    assert second.value == pytest.approx(0.5 * (1 - 0.5**4)) and first.value == 0.0
    arms = [problem.arm for problem in made.take(200)]
    assert arms.count("hard most=99") > 180 and arms.count("easy") > 0, "the floor"


def test_a_group_that_could_not_be_judged_says_nothing() -> None:
    choice = ArmChoice(2, GREEDY)
    made = source(two(), choice)
    [problem] = made.take(1)
    before = choice.state()
    failed = replace(answered(problem, 0.0)[0], score=Score.failure("timed out"))
    made.learn([drawn([failed, failed])])
    assert choice.state() == before


def test_warm_up_works_at_the_tasks_that_are_cold() -> None:
    mixture = TaskMixture({"easy": Sums(9), "hard most=9": Sums(9), "hard most=99": Sums(99)})
    made = source(mixture)
    problems = made.worked(6)
    assert [p.arm for p in problems] == 2 * ["easy", "hard most=9", "hard most=99"]
    easy, small, large = problems[:3]

    def looked(of_easy: float, of_small: float, of_large: float) -> float:
        pairs = zip((easy, small, large), (of_easy, of_small, of_large), strict=True)
        samples = [s for p, right in pairs for s in answered(p, right)]
        return made.warmed(samples, 0.2)

    assert looked(1.0, 0.0, 0.0) == 0.0
    assert {p.arm for p in made.worked(8)} == {"hard most=9", "hard most=99"}
    again = [p.arm for p in made.worked(8, again=0.25)]
    assert again.count("easy") == 2 and len(again) == 8, "a part is of what is warm"
    assert {p.arm for p in made.worked(1, again=0.9)} < {"hard most=9", "hard most=99"}
    assert looked(1.0, 0.0, 1.0) == 1.0, "one difficulty of a task is enough"


def test_conversations_are_not_taught_again_when_they_are_warm() -> None:
    """Four in ten of the detective's worked answers are wrong: they would spoil what was learned."""
    talk = find_task("detective", TaskOptions())
    made = source(TaskMixture({"detective": talk, "hard": Sums(9)}))
    chat, hard = made.worked(2)
    assert made.warmed([*answered(chat, 1), *answered(hard, 0)], 0.2) == 0.0
    assert {problem.arm for problem in made.worked(8, again=0.5)} == {"hard"}


def test_where_each_has_to_be_warm_a_new_rung_is_taught_too() -> None:
    mixture = TaskMixture({"hard": Sums(9), "hard most=99": Sums(99)})
    made = at_night(mixture)
    small, large = made.worked(2)
    looked = [*answered(small, 1, 1, 1, 1), *answered(large, 1, 0, 0, 0, 0, 0, 0, 0)]
    assert made.warmed(looked, 0.3) == 0.125, "that of the coldest"
    assert {p.arm for p in made.worked(8)} == {"hard most=99"}


def test_at_night_warm_up_is_of_what_cannot_be_practised_yet() -> None:
    """Else a task whose answers warm-up never gets right often enough would keep it going every night."""
    made = at_night(TaskMixture({"hard": Sums(9), "hard most=99": Sums(99)}))
    small, large = made.worked(2)

    def looked(of_small: int, of_large: int) -> float:
        samples = [
            s
            for p, n in ((small, of_small), (large, of_large))
            for s in answered(p, *[1] * n, *[0] * (10 - n))
        ]
        return made.warmed(samples, 0.8)

    assert looked(6, 1) == 0.1
    assert {p.arm for p in made.worked(8)} == {"hard most=99"}
    assert "hard" in {p.arm for p in made.worked(8, again=0.5)}, "the other is not forgotten"
    assert looked(6, 9) == 0.9


def test_at_night_an_interrupted_warm_up_goes_on_with_what_it_had_not_finished() -> None:
    made = at_night(
        TaskMixture({"hard": Sums(9), "hard most=9": Sums(9), "hard most=99": Sums(99)})
    )
    whole, small, large = made.worked(3)
    looked = [*answered(whole, 1, 1), *answered(small, 1, 1, 0), *answered(large, 1, 0, 0)]
    assert made.warmed(looked, 0.8) == pytest.approx(1 / 3)
    assert {p.arm for p in made.worked(8)} == {"hard most=9", "hard most=99"}


def test_what_coins_pay_is_nothing_to_be_learned() -> None:
    mixture = two()
    choice = ArmChoice(2, GREEDY)
    made = source(mixture, choice)
    problems = {p.arm: p for p in made.take(40)}
    alike = answered(problems["easy"], 1, 1, 1, 1)
    paid = [
        replace(one, rewards=(coin, 1.0)) for one, coin in zip(alike, (1, -1, 1, -1), strict=True)
    ]
    made.learn([drawn(paid, answered(problems["hard most=99"], 1, 0, 0, 0))])
    assert choice.values()[0] == 0.0 < choice.values()[1]


def test_what_has_no_worked_answers_is_left_out_of_warm_up() -> None:
    made = source(TaskMixture({"easy": Sums(9), "bare": Unworked(9)}))
    assert {p.arm for p in made.worked(10)} == {"easy"}
    assert len(made.worked(10, again=0.5)) == 10, "nothing is warm yet"
    with pytest.raises(DataError, match="worked answers"):
        source(TaskMixture({"bare": Unworked(9), "bare most=3": Unworked(3)})).worked(1)


def test_a_mixture_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError):
        TaskMixture({})


def test_the_weakest_task_is_judged_by_its_best_difficulty() -> None:
    right = (True, False, False, True, None)
    look = HeldOut(right, {}, ("a", "a", "b x=1", "b x=2", "b x=2"))
    assert look.by_arm() == {"a": 0.5, "b x=1": 0.0, "b x=2": 1.0}
    arms = TaskMixture({"a": Sums(9), "b x=1": Sums(9), "b x=2": Sums(9)})
    assert (source(arms).coldest(look.by_arm()), look.accuracy) == (0.5, 0.5)
    assert at_night(arms).coldest(look.by_arm()) == 0.0, "there each has to be warm"
    assert HeldOut((True,), {}).by_arm() == {}


def test_the_gain_of_a_group_is_greatest_at_even_odds() -> None:
    """RL.md 5.13, groups of four: none right 0, one 0.375, two 0.5."""
    found = [mean_advantage([1.0] * right + [0.0] * (4 - right)) for right in range(5)]
    assert found == pytest.approx([0.0, 0.375, 0.5, 0.375, 0.0])
    assert mean_advantage([1.0]) == 0.0
