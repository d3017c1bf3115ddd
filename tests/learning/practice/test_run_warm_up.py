"""PracticeRun: warm-up that costs another task is taken back, and ends with the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from learning.practice.sampling.rollouts import HeldOut
from learning.practice.warm_up import WarmUpReport
from tests.learning.practice.test_run import STEP, Scripted, practise


class TwoTasks(Scripted):
    """Two tasks of 20 problems each; `accuracies` are those of the first, the second is solved more and
    more."""

    def look(self) -> HeldOut:
        accuracy = self.accuracies.pop(0) if len(self.accuracies) > 1 else self.accuracies[0]
        self.looks += 1
        first = tuple(n < round(20 * accuracy) for n in range(20))
        second = tuple(n < 6 * (self.looks - 1) for n in range(20))
        return HeldOut(first + second, {"correct": 0.5}, ("old",) * 20 + ("new",) * 20)


def test_warm_up_that_costs_another_task_is_taken_back() -> None:
    session = TwoTasks([STEP] * 2, accuracies=[0.9, 0.1])
    outcome, kept, evaluations = practise(session, warm_up=True)
    assert (outcome.ended, outcome.steps, outcome.accuracy_warm) == ("rolled_back", 0, None)
    assert "warm-up cost what was known (old 90% → 10%)" in outcome.why
    assert kept.restored == 1 and kept.saved == []
    before, warmed = evaluations
    assert (warmed.stage, warmed.saved) == ("warmed_up", False)
    assert (warmed.accuracy, warmed.by_arm) == (before.accuracy, before.by_arm), "as it was"


def test_warm_up_that_costs_the_task_itself_is_taken_back() -> None:
    """The worked answers of some tasks are often wrong."""
    outcome, kept, _ = practise(Scripted([STEP] * 2, accuracies=[0.7, 0.3]), warm_up=True)
    assert (outcome.ended, outcome.steps, kept.saved) == ("rolled_back", 0, [])
    assert "warm-up cost what was known (70% → 30%)" in outcome.why


def test_a_save_point_within_warm_up_is_what_it_goes_back_to() -> None:
    class Slow(TwoTasks):
        def warm_up(self, report: Callable[[WarmUpReport], None], stop: object) -> WarmUpReport:
            self.warmed = True
            for step in range(1, 5):
                report(WarmUpReport(step, 0.2, 0.1, 1.0))
            return WarmUpReport(4, 0.2, 0.4, 1.0)

    outcome, kept, _ = practise(Slow([STEP], accuracies=[0.9, 0.8, 0.2, 0.1]), warm_up=True)
    assert kept.saved == ["practice: sums, warm-up, step 2"] and kept.restored == 1
    assert outcome.arms_after == {"old": 0.8, "new": 0.3}


def test_what_warm_up_costs_by_chance_or_by_teaching_the_tags_is_not_taken_back() -> None:
    for changes in ({"accuracies": [0.9, 0.8]}, {"accuracies": [0.9, 0.1], "taught_tags": True}):
        outcome, kept, _ = practise(TwoTasks([STEP], **changes), warm_up=True)  # type: ignore[arg-type]
        assert kept.restored == 0 and outcome.accuracy_warm is not None


def test_the_time_limit_ends_warm_up_too() -> None:
    class Long(Scripted):
        def warm_up(self, report: object, stop: Callable[[], bool]) -> WarmUpReport:
            self.warmed = True
            assert stop(), "the time is over"
            return WarmUpReport(3, 0.2, 0.0, 1.0)

    session = Long([STEP] * 2)
    session.settings = replace(session.settings, seconds=1e-9)
    outcome, kept, _ = practise(session, warm_up=True)
    assert (outcome.ended, outcome.steps, outcome.warm_up_steps) == ("time", 0, 3)
    assert kept.saved == ["practice: sums, warm-up"], "what it taught is kept"


@pytest.mark.parametrize(
    ("success", "enough", "ended"),
    [(0.19, 0.8, "too_hard"), (0.21, 0.8, "steps"), (0.12, 0.1, "steps"), (0.09, 0.1, "too_hard")],
)
def test_practice_begins_at_a_fifth_or_where_a_lower_goal_is_reached(
    success: float, enough: float, ended: str
) -> None:
    session = Scripted([STEP] * 2, success=success)
    warm_up = replace(session.settings.warm_up, enough=enough)
    session.settings = replace(session.settings, warm_up=warm_up)
    outcome, _, _ = practise(session, warm_up=True)
    assert outcome.ended == ended
