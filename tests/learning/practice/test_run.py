"""learning.practice.run with a scripted trainer: when it ends, what it saves, and its alarms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.errors import NumericsError
from learning.maths.alarm import Signs
from learning.practice.figures import StepReport
from learning.practice.run import Evaluation, Interrupted, PracticeOutcome, PracticeRun
from learning.practice.sampling.rollouts import HeldOut
from learning.practice.settings import PracticeSettings
from learning.practice.warm_up import WarmUpReport

STEP = StepReport(
    1, 0.5, 0.1, 0.5, 4, 0, 0.0, 0.0, 0.3, 0.0, 8.0, 0.0, 0, 100, 1000.0, 1.0, {"correct": 0.5}
)


@dataclass
class Scripted:
    """Stands for a Session."""

    steps: list[StepReport]
    accuracies: list[float] = field(default_factory=lambda: [0.3])
    recalls: list[float] = field(default_factory=lambda: [1.0])
    success: float = 0.4
    mends: bool = False
    measure_every: int = 2
    step_number: int = 0
    mended: int = 0
    warmed: bool = False
    held_out: int = 100
    looks: int = 0
    paid: dict[str, float] = field(default_factory=dict)
    """Components of the held-out answers."""
    has_worked: bool = True
    taught_tags: bool = False

    def __post_init__(self) -> None:
        self.settings = PracticeSettings(steps=len(self.steps), measure_every=self.measure_every)
        self.task = SimpleNamespace(name="sums")
        self.model = torch.nn.Linear(2, 2)
        self.keeper = SimpleNamespace(
            book_before=1.0,
            book_recall=1.0,
            earlier=0,
            earlier_before=1.0,
            earlier_recall=1.0,
            measure=self._measure,
        )

    @property
    def updates(self) -> int:
        taken = sum(step.updates > 0 for step in self.steps[: self.step_number])
        return taken + 40 * self.warmed

    def _measure(self, _: object) -> None:
        self.keeper.book_recall = self.recalls.pop(0) if len(self.recalls) > 1 else self.recalls[0]

    def look(self) -> HeldOut:
        """The first problems are solved, and at each look one other."""
        accuracy = self.accuracies.pop(0) if len(self.accuracies) > 1 else self.accuracies[0]
        self.looks += 1
        solved = set(range(round(accuracy * self.held_out) - 1)) if accuracy else set()
        solved |= {self.held_out - 1 - self.looks} if accuracy else set()
        right = tuple(n in solved for n in range(self.held_out))
        return HeldOut(right, {"correct": accuracy, **self.paid})

    def is_cold(self, look: HeldOut) -> bool:
        return look.accuracy < 0.2 and self.has_worked

    def warm_up(self, report: Callable[[WarmUpReport], None], stop: object) -> WarmUpReport:
        self.warmed = True
        return WarmUpReport(40, 0.2, self.success, 1.0, enough=self.settings.warm_up.enough)

    def mend(self, mended: Callable[[], bool]) -> None:
        self.mended += 1
        if self.mends:
            self.recalls = [1.0]

    def step(self) -> StepReport:
        self.step_number += 1
        return replace(self.steps[self.step_number - 1], step=self.step_number)


@dataclass
class Kept:
    """Stands for the learner's weights."""

    saved: list[str] = field(default_factory=list)
    restored: int = 0

    def save(self, note: str) -> None:
        self.saved.append(note)

    def restore(self) -> None:
        self.restored += 1


def practise(
    session: Scripted, *, warm_up: bool | None = False, **more: Any
) -> tuple[PracticeOutcome, Kept, list[Evaluation]]:
    kept, evaluations = Kept(), list[Evaluation]()
    run = PracticeRun(session, kept, on_evaluation=evaluations.append, **more)  # type: ignore[arg-type]
    return run.run(warm_up=warm_up), kept, evaluations


def test_what_passed_is_saved_as_it_goes_and_at_the_end() -> None:
    session = Scripted([STEP] * 5, accuracies=[0.3, 0.4, 0.5, 0.6])
    outcome, kept, evaluations = practise(session)
    assert kept.saved == [
        "practice: sums, step 2",
        "practice: sums, step 4",
        "practice: sums, step 5",
    ]
    assert [(one.stage, one.step, one.saved) for one in evaluations] == [
        ("before", 0, False),
        ("during", 2, True),
        ("during", 4, True),
        ("after", 5, True),
    ]
    assert (outcome.ended, outcome.accuracy_before, outcome.accuracy_after) == ("steps", 0.3, 0.6)
    assert kept.restored == 0


def test_a_step_less_run_only_measures() -> None:
    outcome, kept, evaluations = practise(Scripted([]))
    assert (kept.saved, len(evaluations), outcome.accuracy_after) == ([], 1, 0.3)


def test_what_costs_too_much_of_the_book_is_mended_or_taken_back() -> None:
    outcome, kept, _ = practise(Scripted([STEP] * 4, recalls=[1.0, 0.9]))
    assert kept.saved == ["practice: sums, step 2"] and kept.restored == 1
    assert outcome.ended == "rolled_back"
    assert outcome.why.startswith("too much of the book was forgotten")
    mended = Scripted([STEP] * 4, recalls=[1.0, 0.9], mends=True)
    outcome, kept, _ = practise(mended)
    assert outcome.ended == "steps" and len(kept.saved) == 2 and mended.mended == 1


def test_weights_that_are_not_finite_are_never_saved() -> None:
    session = Scripted([STEP] * 2)
    torch.nn.init.constant_(session.model.weight, float("nan"))
    outcome, kept, _ = practise(session)
    assert (outcome.ended, kept.saved, kept.restored, session.mended) == ("rolled_back", [], 1, 0)


@pytest.mark.parametrize(
    ("success", "ended", "words"),
    [
        (0.0, "too_hard", "warm sums up"),
        (1.0, "solved", "harder"),
        (0.5, "too_few", "another task"),
    ],
)
def test_nothing_to_prefer_is_an_end_with_advice(success: float, ended: str, words: str) -> None:
    dead = replace(STEP, success=success, dead_groups=4)
    outcome, _, _ = practise(Scripted([STEP, dead, dead, dead, STEP]))
    assert (outcome.ended, outcome.steps) == (ended, 4)
    assert words in outcome.why


def test_dead_steps_that_are_not_in_a_row_are_no_end() -> None:
    dead = replace(STEP, success=0.0, dead_groups=4)
    outcome, _, _ = practise(Scripted([dead, dead, STEP, dead, dead, STEP]))
    assert (outcome.ended, outcome.steps) == ("steps", 6)


@pytest.mark.parametrize(
    ("accuracy", "worked", "warmed"), [(0.0, True, True), (0.0, False, False), (0.3, True, False)]
)
def test_what_cannot_be_done_at_all_is_warmed_up(
    accuracy: float, worked: bool, warmed: bool
) -> None:
    session = Scripted([STEP] * 2, accuracies=[accuracy], has_worked=worked)
    practise(session, warm_up=None)
    assert session.warmed == warmed


def test_warm_up_that_does_not_reach_its_goal_says_so() -> None:
    outcome, kept, _ = practise(Scripted([STEP] * 2, success=0.05), warm_up=True)
    assert (outcome.ended, outcome.steps, outcome.warm_up_steps) == ("too_hard", 0, 40)
    assert outcome.accuracy_warm is None and "5%" in outcome.why
    assert kept.saved == ["practice: sums, warm-up"]
    outcome, kept, evaluations = practise(Scripted([STEP] * 2), warm_up=True)
    assert outcome.ended == "steps" and outcome.accuracy_warm == 0.3
    assert [one.stage for one in evaluations] == ["before", "warmed_up", "during"]


def test_reward_that_rises_while_what_it_stands_for_falls_is_an_alarm() -> None:
    rising = [replace(STEP, reward_mean=0.02 * n) for n in range(24)]
    outcome, _, evaluations = practise(Scripted(rising, accuracies=[0.5] * 12 + [0.4]))
    assert "held-out accuracy fell from 50% to 40%" in outcome.alarm
    assert evaluations[-2].alarm == outcome.alarm and evaluations[3].alarm == ""
    assert evaluations[-2].held, "such a fall is not published either"
    outcome, _, _ = practise(Scripted(rising, recalls=[1.0] * 11 + [0.985]))
    assert "recall of the book fell from 100% to 98%" in outcome.alarm
    falling = list(reversed(rising))
    outcome, _, _ = practise(Scripted(falling, accuracies=[0.5] * 12 + [0.4]))
    assert outcome.alarm == "", "no reward rose"


def test_weights_that_solve_clearly_fewer_problems_are_held_back_until_they_are_as_good() -> None:
    session = Scripted([STEP] * 6, accuracies=[0.3, 0.6, 0.45, 0.52])
    outcome, kept, evaluations = practise(session)
    assert kept.saved == ["practice: sums, step 2", "practice: sums, step 6"]
    assert [(one.accuracy, one.saved, one.held) for one in evaluations[1:]] == [
        (0.6, True, False),
        (0.45, False, True),
        (0.52, True, False),
    ]
    assert (outcome.accuracy_after, outcome.why, kept.restored) == (0.52, "", 0)


def test_what_is_held_back_to_the_end_is_given_up() -> None:
    for steps in (4, 5):  # the last step at a save point, and after one
        session = Scripted([STEP] * steps, accuracies=[0.3, 0.6, 0.0])
        outcome, kept, evaluations = practise(session)
        assert kept.saved == ["practice: sums, step 2"] and kept.restored == 1
        assert (outcome.ended, outcome.accuracy_after) == ("steps", 0.6)
        assert "those of the last save point" in outcome.why
        assert evaluations[-2].held and (evaluations[-1].accuracy, evaluations[-1].held) == (
            0.6,
            False,
        )


def test_stopped_while_held_back_says_what_is_kept() -> None:
    session = Scripted([STEP] * 9, accuracies=[0.3, 0.6, 0.0])
    outcome, kept, _ = practise(session, stop=lambda: session.step_number >= 5)
    assert (outcome.ended, kept.restored) == ("stopped", 1)
    assert outcome.why.startswith("stopped; the last steps solved fewer")


def test_advice_outlives_what_is_given_up() -> None:
    dead = replace(STEP, success=0.0, dead_groups=STEP.groups)
    session = Scripted([STEP, STEP, dead, dead, dead, STEP], accuracies=[0.3, 0.6, 0.0])
    outcome, kept, _ = practise(session)
    assert (outcome.ended, kept.restored) == ("too_hard", 1)
    assert "warm sums up" in outcome.why and "those of the last save point" in outcome.why


def test_few_problems_hold_nothing_back_by_chance() -> None:
    session = Scripted([STEP] * 4, accuracies=[0.3, 0.6, 0.45], held_out=20)
    _, kept, _ = practise(session)
    assert len(kept.saved) == 2


def test_warm_up_is_where_the_best_begins() -> None:
    session = Scripted([STEP] * 2, accuracies=[0.6, 0.5, 0.55], held_out=20)
    outcome, kept, _ = practise(session, warm_up=True)
    assert kept.saved == ["practice: sums, warm-up", "practice: sums, step 2"]
    assert (outcome.accuracy_warm, outcome.accuracy_after, kept.restored) == (0.5, 0.55, 0)
    outcome, kept, _ = practise(Scripted([STEP] * 2, success=0.05), warm_up=True)
    assert (outcome.ended, kept.restored) == ("too_hard", 0), "what warm-up gained is published"


def test_stopping_keeps_what_passed() -> None:
    session = Scripted([STEP] * 9, measure_every=5)
    outcome, kept, _ = practise(session, stop=lambda: session.step_number >= 3)
    assert (outcome.ended, outcome.steps, kept.saved) == ("stopped", 3, ["practice: sums, step 3"])


@pytest.mark.parametrize(
    "raised", [Interrupted(), KeyboardInterrupt(), NumericsError("nan", "again")]
)
def test_whatever_interrupts_a_step_goes_back_to_the_last_save(raised: BaseException) -> None:
    def at_three(report: StepReport) -> None:
        if report.step == 3:
            raise raised

    session = Scripted([STEP] * 9)
    kept = Kept()
    run = PracticeRun(session, kept, on_step=at_three)  # type: ignore[arg-type]
    if isinstance(raised, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            run.run(warm_up=False)
    else:
        assert run.run(warm_up=False).ended in ("stopped", "rolled_back")
    assert kept.saved == ["practice: sums, step 2"] and kept.restored == 1


def test_too_few_live_groups_for_an_update_end_the_run_and_say_so() -> None:
    thin = replace(STEP, updates=0, waiting=3, needed=32)
    outcome, _, _ = practise(Scripted([thin] * 20))
    assert (outcome.ended, outcome.steps) == ("too_few", 6)
    assert "3 of the 32 that an update needs" in outcome.why


def test_what_could_not_be_judged_is_not_too_hard() -> None:
    slow = replace(STEP, success=0.0, dead_groups=1, unjudged_groups=3, updates=0)
    outcome, _, _ = practise(Scripted([slow] * 20))
    assert (outcome.ended, outcome.steps) == ("too_few", 6)
    assert "3 of 4 problems in the last step" in outcome.why
    one = replace(STEP, success=0.0, dead_groups=3, unjudged_groups=1)
    outcome, _, _ = practise(Scripted([one] * 20))
    assert (outcome.ended, outcome.steps) == ("too_hard", 3)


def test_a_mismatch_between_drawing_and_training_is_an_alarm() -> None:
    outcome, _, _ = practise(Scripted([replace(STEP, mismatch=0.02)]))
    assert "off by 0.020 nats" in outcome.alarm
    outcome, _, _ = practise(Scripted([replace(STEP, mismatch=0.004)]))
    assert outcome.alarm == ""


def test_warm_up_that_is_interrupted_keeps_what_passed_the_guard() -> None:
    class Slow(Scripted):
        """Warm-up of five looks, then the owner is back."""

        def warm_up(self, report: Callable[[WarmUpReport], None], stop: object) -> WarmUpReport:
            self.warmed = True
            for step in range(1, 6):
                report(WarmUpReport(step, 0.2, 0.1, 1.0))
            raise Interrupted

    outcome, kept, _ = practise(Slow([STEP] * 2), warm_up=True)
    assert kept.saved == ["practice: sums, warm-up, step 2", "practice: sums, warm-up, step 4"]
    assert (outcome.ended, outcome.saves, kept.restored) == ("stopped", 2, 1)
    outcome, kept, _ = practise(Slow([STEP] * 2, recalls=[0.9]), warm_up=True)
    assert kept.saved == [], "the guard goes first"


def watched(*signs: Signs) -> Callable[[HeldOut], Signs]:
    """Signs to be measured in turn, the start's first."""
    left = list(signs)
    return lambda _: left.pop(0)


FINE = Signs(length=20.0, distinct=0.8, disagreement=0.3)


def test_a_hard_alarm_stops_at_the_last_save_point_and_names_itself() -> None:
    session = Scripted([STEP] * 6)
    far = replace(FINE, kl=12.0)
    outcome, kept, evaluations = practise(
        session, signs=watched(FINE, FINE, far, FINE), advice="Look at them."
    )
    assert kept.saved == ["practice: sums, step 2"] and kept.restored == 1
    assert (outcome.ended, outcome.steps) == ("alarm", 4)
    assert outcome.alarm.startswith("kl: answers are far from what they were (12.0 nats")
    assert outcome.alarm in outcome.why and outcome.why.endswith("point. Look at them.")
    assert evaluations[-1].alarm == outcome.alarm and not evaluations[-1].saved


def test_after_warm_up_signs_are_compared_with_those_behind_it() -> None:
    """Warm-up teaches calls, which is no alarm; what practice makes of them may be one."""
    none, some, many = (Signs(counts={"python_count": count}) for count in (0.0, 1.5, 4.0))
    _, _, evaluations = practise(
        Scripted([STEP] * 4), warm_up=True, signs=watched(none, some, some, many)
    )
    assert [bool(one.alarm) for one in evaluations] == [False, False, False, True]
    assert evaluations[-1].alarm.startswith("count: python_count rises from 1.5 to 4.0")


CALLS = [replace(STEP, counts={"python_count": calls}) for calls in (1.0, 1.1, 1.4, 1.8, 2.0)]


def test_calls_that_grow_bring_a_look_at_once() -> None:
    """measure_every is 2; calls grow at step 3, a step before the next look."""
    _, _, evaluations = practise(Scripted(CALLS))
    assert [one.step for one in evaluations] == [0, 2, 3, 4, 5]
    same = [replace(step, updates=0) for step in CALLS]
    _, _, evaluations = practise(Scripted(same))
    assert 3 not in [one.step for one in evaluations], "the weights are those of the last look"


def test_an_early_look_with_an_alarm_publishes_nothing() -> None:
    """What calls more often at step 3 is held back, so the run ends with the weights of step 2."""
    fine, more = (Signs(counts={"python_count": calls}) for calls in (1.0, 3.0))
    worse = replace(more, distinct=0.1)
    signs = watched(fine, fine, more, worse)
    outcome, kept, looks = practise(Scripted(CALLS), signs=signs)
    assert [(one.saved, one.held) for one in looks[1:3]] == [(True, False), (False, True)]
    assert kept.saved == ["practice: sums, step 2"] and kept.restored == 1
    assert (outcome.ended, outcome.steps) == ("alarm", 4)


def test_one_soft_alarm_is_told_and_two_stop() -> None:
    session = Scripted([STEP] * 6)
    one = replace(FINE, distinct=0.1)
    two = replace(one, disagreement=0.9)
    outcome, kept, evaluations = practise(session, signs=watched(FINE, one, two, FINE))
    assert "variety: " in evaluations[1].alarm and evaluations[1].saved
    assert outcome.ended == "alarm" and len(kept.saved) == 1
    assert "variety" in outcome.alarm and "disagreement" in outcome.alarm


def test_at_the_first_save_point_already() -> None:
    far = replace(FINE, same=0.9)
    outcome, kept, _ = practise(Scripted([STEP] * 6), signs=watched(FINE, far))
    assert (outcome.ended, outcome.steps, kept.saved) == ("alarm", 2, [])
