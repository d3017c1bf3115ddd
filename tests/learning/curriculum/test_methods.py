"""Curricula on bandits with known answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from engine.errors import ConfigError
from learning.curriculum.interface import Visit
from learning.curriculum.methods import (
    ArmChoice,
    Boltzmann,
    Exp3,
    LearningProgress,
    Make,
    Thresholds,
    Uniform,
)
from learning.curriculum.settings import CurriculumSettings

METHODS: list[Make] = [Uniform, Thresholds, Boltzmann, Exp3, LearningProgress]
SETTINGS = CurriculumSettings()


def with_method(method: Make, **more: float) -> CurriculumSettings:
    return replace(SETTINGS, method=method, **more)


def test_the_golden_step() -> None:
    made = Boltzmann(3, SETTINGS)
    made.learn([Visit(1, 0.5, 0.0), Visit(2, 0.2, 0.0), Visit(1, 1.0, 0.0)], torch.ones(3) / 3)
    assert made.values() == pytest.approx([0.0, 0.375, 0.1])
    assert made.probabilities().tolist() == pytest.approx([0.1091, 0.7111, 0.1798], abs=1e-4)


def drifting(make: Callable[[], ArmChoice], after: int) -> float:
    """Share of the better of two arms, paid 0.8 and 0.2, over steps `after` to `after` + 100; the arms swap
    at step 500."""
    choice, rng = make(), random.Random(3)
    better = 0
    for step in range(after + 100):
        [arm] = choice.choose(1, rng)
        best = 0 if step < 500 else 1
        paid = float(rng.random() < (0.8 if arm == best else 0.2))
        choice.learn([Visit(arm, paid, paid)])
        better += step >= after and arm == best
    return better / 100


@pytest.mark.parametrize("method", [Boltzmann, Exp3])
def test_it_finds_the_better_arm_again_within_a_hundred_steps(method: Make) -> None:
    settings = with_method(method, rate=0.1)
    assert drifting(lambda: ArmChoice(2, settings), 400) > 0.65
    assert drifting(lambda: ArmChoice(2, settings), 600) > 0.65


def test_sample_means_would_not() -> None:
    """What the constant rate is for: with 1/N the estimate of 500 steps outweighs the next hundred."""

    class Means(Boltzmann):
        def __init__(self, arms: int, settings: CurriculumSettings) -> None:
            super().__init__(arms, replace(settings, temperature=0.05))
            self._counts = [0] * arms

        def learn(self, visits: list[Visit], drawn_with: torch.Tensor) -> None:  # type: ignore[override]
            for visit in visits:
                self._counts[visit.arm] += 1
                self._rate = 1 / self._counts[visit.arm]
                super().learn([visit], drawn_with)

    settings = with_method(Means)
    assert drifting(lambda: ArmChoice(2, settings), 400) > 0.65
    assert drifting(lambda: ArmChoice(2, settings), 600) < 0.3


def test_every_arm_may_be_visited_whatever_was_drawn() -> None:
    """Exp3 divides a gain by the probability of the visit: its own by default, or the one it is given."""
    choices = [ArmChoice(2, with_method(Exp3)) for _ in range(3)]
    for step in range(6):
        visits = [Visit(0, 1.0 + step, 0.0), Visit(1, 0.0, 0.0)]
        choices[0].learn(visits)
        choices[1].learn(visits, choices[1].probabilities())
        choices[2].learn(visits, torch.full((2,), 0.5))
    found = [choice.values() for choice in choices]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("method", METHODS)
def test_the_floor_holds_however_one_sided_the_gains(method: Make) -> None:
    choice = ArmChoice(4, with_method(method, floor=0.2, first=0.3, last=2))
    for step in range(200):
        choice.learn([Visit(2, float(step % 2), 0.5), *(Visit(arm, 0.0, 0.0) for arm in (0, 1, 3))])
        found = choice.probabilities()
        assert float(found.sum()) == pytest.approx(1.0, abs=1e-5)
        assert float(found.min()) >= 0.2 * 0.7 / 4 - 1e-6
        assert float(found[0]) >= 0.3, "the share of the first arm"


def test_the_first_share_is_divided_among_the_owners_arms_by_what_is_to_be_learned() -> None:
    choice = ArmChoice(4, with_method(Boltzmann, floor=0.1, first=0.5), own=2)
    for _ in range(20):
        gains = (0.0, 0.4, 0.5, 0.5)
        choice.learn([Visit(arm, gain, 0.5) for arm, gain in enumerate(gains)])
    solved, new, *others = choice.probabilities().tolist()
    assert solved + new >= 0.5 > sum(others) > 0.2
    assert new > 4 * solved > 4 * 0.1 * 0.5 / 4, "not the solved one, which keeps a floor"
    alone = ArmChoice(3, with_method(Thresholds, floor=0.0, first=0.5), own=2)
    for _ in range(2):
        alone.learn([Visit(arm, 0.0, 1.0) for arm in range(3)] * 300)
    assert alone.probabilities().tolist() == [0.25, 0.25, 0.5], "the curriculum gives both nothing"


@pytest.mark.parametrize("method", [Uniform, Boltzmann, Exp3, LearningProgress])
def test_the_order_of_the_arms_does_not_matter(method: Make) -> None:
    order = [2, 0, 1]
    one, other = (ArmChoice(3, with_method(method)) for _ in range(2))
    rng = random.Random(1)
    for _ in range(20):
        visits = [Visit(arm, rng.random(), rng.random()) for arm in range(3)]
        one.learn(visits)
        other.learn([replace(visit, arm=order[visit.arm]) for visit in visits])
    found = other.probabilities().tolist()
    assert [found[at] for at in order] == pytest.approx(one.probabilities().tolist(), abs=1e-5)


def test_thresholds_go_up_and_down_and_stop_at_the_ends() -> None:
    made = Thresholds(3, replace(SETTINGS, last=4))
    where = torch.ones(3) / 3

    def after(arm: int, *right: float) -> int:
        made.learn([Visit(arm, 0.0, one) for one in right], where)
        return int(made.probabilities().argmax())

    assert after(0, 1, 1, 1) == 0, "too few problems"
    assert after(2, 1, 1, 1) == 0, "of another arm"
    assert after(0, 0.5) == 1
    assert after(1, 0, 1, 1, 0, 0, 1) == 1, "neither good nor bad"
    assert after(1, 1, 1) == 2
    assert after(2, 1, 1, 1, 1) == 2, "there is no harder one"
    assert after(2, 0, 0, 0) == 1
    assert after(1, 0, 0, 0, 0) == 0
    assert after(0, 0, 0, 0, 0) == 0


def test_progress_goes_where_success_changes() -> None:
    made = LearningProgress(3, SETTINGS)
    where = torch.ones(3) / 3
    assert made.probabilities().tolist() == pytest.approx([1 / 3] * 3)
    for step in range(10):
        made.learn([Visit(0, 0.0, 0.1 * step), Visit(1, 0.0, 0.7)], where)
    assert made.values() == pytest.approx([0.1, 0.0, 0.1], abs=1e-6), "an unseen arm is looked at"
    for step in range(10):
        made.learn([Visit(2, 0.0, 0.9 - 0.03 * step)], where)
    assert made.probabilities().tolist() == pytest.approx([0.1 / 0.13, 0.0, 0.03 / 0.13], abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_what_it_has_learned_can_be_kept(method: Make) -> None:
    settings = with_method(method, last=4)
    one, other, rng = ArmChoice(3, settings), ArmChoice(3, settings), random.Random(0)

    def visits() -> list[Visit]:
        return [Visit(arm, rng.random(), rng.random()) for arm in range(3)]

    for _ in range(12):
        one.learn(visits())
    other.load(one.state())
    next_ones = visits()
    one.learn(next_ones)
    other.learn(next_ones)
    assert torch.equal(one.probabilities(), other.probabilities())
    assert one.choose(20, random.Random(5)) == other.choose(20, random.Random(5))


GROWN = [0, None, 2, 1]
"""Arm 1 is new, and the two behind it have changed places."""


def grown(method: Make) -> tuple[ArmChoice, ArmChoice]:
    """Two curricula: the first has three arms and has learned; the second has four and loaded its state."""
    settings = with_method(method, last=4, floor=0.0)
    one, other, rng = ArmChoice(3, settings), ArmChoice(4, settings), random.Random(0)
    for _ in range(12):
        one.learn([Visit(arm, rng.random(), rng.random()) for arm in range(3)])
    other.load(one.state(), GROWN)
    return one, other


def test_estimates_stay_with_their_arms_when_one_joins() -> None:
    before, after = grown(Boltzmann)
    first, second, third = before.values()
    assert all(value > 0.1 for value in (first, second, third))
    assert after.values() == [first, 0.0, third, second], "a new arm is as at the beginning"


def test_exp3_keeps_the_odds_and_a_new_arm_has_the_mean_weight() -> None:
    before, after = grown(Exp3)
    kept = torch.tensor(before.values()).softmax(-1)
    found = torch.tensor(after.values()).softmax(-1)
    assert float(found[1]) == pytest.approx(1 / 4)
    assert found[[0, 3, 2]].tolist() == pytest.approx((0.75 * kept).tolist())
    assert after.state()["history"] == before.state()["history"]


def test_progress_looks_at_a_new_arm_as_often_as_at_the_best() -> None:
    before, after = grown(LearningProgress)
    first, second, third = before.values()
    assert after.values() == [first, max(before.values()), third, second]


def test_thresholds_stay_at_their_arm_and_begin_anew_where_it_is_gone() -> None:
    settings = with_method(Thresholds, last=4)
    one = ArmChoice(3, settings)
    one.learn([Visit(0, 0.0, 1.0)] * 4 + [Visit(1, 0.0, 1.0)] * 3)
    assert one.values() == [0, 1, 0]
    grown, without = ArmChoice(4, settings), ArmChoice(2, settings)
    grown.load(one.state(), GROWN)
    without.load(one.state(), [0, 2])
    assert (grown.values(), without.values()) == ([0, 0, 0, 1], [1, 0])
    assert grown.state()["seen"] == [1.0] * 3 and without.state()["seen"] == []


def test_nothing_to_choose_among_is_an_error() -> None:
    with pytest.raises(ConfigError):
        ArmChoice(0, SETTINGS)


@pytest.mark.parametrize(
    "wrong", [{"floor": 1.5}, {"temperature": 0.0}, {"rate": 0.0}, {"first": -0.1}, {"last": 0}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"^curriculum: {name} is"):
        CurriculumSettings(**wrong)  # type: ignore[arg-type]
