"""Alarms compare the same held-out problems: chance does not raise one, a real fall does, early."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.errors import ShapeError
from learning.maths.paired import changes, mcnemar
from learning.practice.checks.alarms import CountWatch, alarm, fell
from learning.practice.figures import StepReport
from learning.practice.sampling.rollouts import HeldOut

STEP = StepReport(
    1, 0.5, 0.1, 0.5, 4, 0, 0.0, 0.0, 0.3, 0.0, 8.0, 0.0, 0, 100, 1000.0, 1.0, {"correct": 0.5}
)


def steps(**paid: tuple[float, float]) -> list[StepReport]:
    """Ten steps over which components, and the reward, go from one value to another."""
    found = []
    for n in range(10):
        values = {name: a + (b - a) * n / 9 for name, (a, b) in paid.items()}
        reward = values.pop("reward", 0.5)
        found.append(replace(STEP, reward_mean=reward, components=values))
    return found


def look(right: list[bool | None], **components: float) -> HeldOut:
    return HeldOut(tuple(right), components)


def test_mcnemar_by_hand() -> None:
    assert mcnemar(0, 0) == 1.0 and mcnemar(3, 3) == 1.0
    assert mcnemar(5, 0) == pytest.approx(2 / 32)
    assert mcnemar(11, 1) == pytest.approx(2 * (1 + 12) / 4096) == mcnemar(1, 11)
    assert changes((True, True, False, None, True), (True, False, True, True, None)) == (1, 1)
    with pytest.raises(ShapeError):
        changes((True,), ())


BEFORE = look([n < 140 for n in range(200)], correct=0.7, calls=0.2)
AFTER = look([n < 128 or n == 199 for n in range(200)], correct=0.645, calls=0.25)
"""12 lost, 1 gained: six points."""


def test_a_component_that_rises_while_correctness_falls_is_named() -> None:
    told = alarm(BEFORE, AFTER, steps(correct=(0.7, 0.6), calls=(0.2, 0.9)), 1.0, 1.0)
    assert told.startswith("calls rises while held-out accuracy fell from 70% to 64%"), told
    assert "12 problems lost, 1 gained" in told and "may be fooled" in told
    risen = replace(AFTER, components={"correct": 0.645, "format": 0.9})
    assert alarm(BEFORE, risen, steps(), 1.0, 1.0).startswith("format rises while")


def test_where_the_reward_is_correctness_nothing_is_said_to_be_fooled() -> None:
    told = alarm(BEFORE, AFTER, steps(reward=(0.5, 0.8), correct=(0.5, 0.8)), 1.0, 1.0)
    assert "it learns these, not the task" in told and "fooled" not in told


def test_one_look_is_enough_and_a_book_that_falls_is_told() -> None:
    early = steps(reward=(0.5, 0.8))[:2]
    assert "the reward rises while held-out" in alarm(BEFORE, AFTER, early, 1.0, 1.0)
    told = alarm(BEFORE, BEFORE, steps(reward=(0.5, 0.8)), 1.0, 0.985)
    assert told == "the reward rises while recall of the book fell from 100% to 98%"
    assert alarm(BEFORE, AFTER, steps(reward=(0.8, 0.5), correct=(0.8, 0.5)), 1.0, 0.9) == ""


def drawn(chances: list[float], rng: random.Random) -> HeldOut:
    return look([rng.random() < chance for chance in chances])


def false_stops(runs: int) -> int:
    """Runs of five looks of a policy that does not change, in which one is called a fall."""
    stopped = 0
    for seed in range(runs):
        rng = random.Random(seed)
        chances = [rng.betavariate(0.7, 0.3) for _ in range(200)]  # some problems are easy
        best = drawn(chances, rng)
        for _ in range(4):
            now = drawn(chances, rng)
            if fell(best, now):
                stopped += 1
                break
            best = now if now.accuracy >= best.accuracy else best
    return stopped


def test_chance_stops_at_most_one_run_in_twenty() -> None:
    assert false_stops(400) <= 20


def test_a_fall_is_called_before_ten_points_are_lost() -> None:
    called = 0
    for seed in range(40):
        rng = random.Random(seed)
        right = [rng.random() < 0.7 for _ in range(200)]
        best, lost = look(list(right)), 0
        known = [n for n, one in enumerate(right) if one]
        rng.shuffle(known)
        while lost < 20:
            right[known[lost]] = False
            if lost % 8 == 0:  # now and then another one is solved
                right[rng.choice([n for n, one in enumerate(right) if not one])] = True
            lost += 1
            now = look(list(right))
            if fell(best, now):
                called += now.accuracy > best.accuracy - 0.1
                break
    assert called >= 38


def test_a_rise_of_calls_is_told_once_for_each_quarter() -> None:
    watch = CountWatch()
    calls = [1.0, 1.2, 1.3, 1.3, 1.6, 1.7, 0.2, 1.0]
    told = [watch.rises(replace(STEP, counts={"python_count": one})) for one in calls]
    assert told == [False, False, True, False, False, True, False, False]
    rare = CountWatch()
    few = [rare.rises(replace(STEP, counts={"python_count": one})) for one in (0.0, 0.6, 0.7)]
    assert few == [False, False, True], "a few calls more are no rise"
    mixed = CountWatch()
    steps_of_two_tasks = [
        {},
        {"python_count": 1.0},
        {},
        {"python_count": 1.2},
        {"python_count": 1.3},
    ]
    found = [mixed.rises(replace(STEP, counts=counts)) for counts in steps_of_two_tasks]
    assert found == [False, False, False, False, True], "the first step that has it counts"
