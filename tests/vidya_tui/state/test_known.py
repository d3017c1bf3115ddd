"""vidya_tui.state.known: how events change the state."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from learning.protocol.events import (
    Event,
    Failed,
    LearnerState,
    ModelChanging,
    PracticeDone,
    PracticeStage,
    Ready,
    TeacherEnded,
    TrainProgress,
    WorkerLost,
)
from learning.protocol.model_events import Grown
from learning.protocol.reason_events import ReasonGivenUp
from vidya_tui.state import practice
from vidya_tui.state.growth import Growing
from vidya_tui.state.known import StateStore, TeacherState, after, told
from vidya_tui.state.message import StatusMessage

READY = Ready("10m", 3, 10_200_000, "cpu")
PROGRESS = TrainProgress(1, 5, 3, 40, 1.5, 0.4, 2.0, 20.0)
BUSY = TeacherState(practice=practice.begun("syllogism"), growing=Growing("49m", 0.0))


def busy() -> TeacherState:
    """A model that trains the book, practises and grows, all at once."""
    now = BUSY
    for event in (READY, LearnerState("training", waiting=2), PROGRESS):
        now = after(now, event)
    assert now.training.running and now.practice.running and now.growing and now.learning.loaded
    return now


@pytest.mark.parametrize("event", [WorkerLost("killed", True), ModelChanging("10m-base")])
def test_the_end_of_a_teacher_ends_everything_that_it_did(event: Event) -> None:
    now = after(busy(), event)
    assert not now.training.running and not now.practice.running and now.growing is None
    assert not now.learning.loaded and now.learning.training is None and not now.learning.practice
    assert now.learning.state == LearnerState("idle", waiting=2), "lessons still wait"


def test_work_that_is_asked_of_a_teacher_that_is_gone_ends_at_once() -> None:
    gone = Failed("worker", "the model's process is gone", "quit and start vidya again")
    now = after(busy(), gone)
    assert not now.training.running and now.training.state().startswith("the model's process is")
    assert now.growing is None and not now.practice.running and now.learning.training is None
    assert after(now, gone) == now


def test_only_these_events_are_the_end_of_a_teacher() -> None:
    ended = {kind for kind in get_args(Event) if issubclass(kind, TeacherEnded)}
    assert ended == {WorkerLost, ModelChanging}


def test_what_is_known_is_never_changed_in_place() -> None:
    before = busy()
    copy = replace(before)
    after(before, replace(PROGRESS, step=4))
    after(before, WorkerLost("killed", False))
    assert before == copy and before.training.losses == ((3, 1.5),)


def test_the_learning_line_has_the_practice_before_the_growing() -> None:
    assert after(BUSY, READY).learning.practice.startswith("practising syllogism")
    growing = after(replace(BUSY, practice=TeacherState().practice), READY)
    assert growing.learning.practice == "growing to 49m"
    assert after(growing, Grown("49m", 1)).learning.practice == ""


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (WorkerLost("killed", True), "killed; nothing is lost; starting it again, /train starts"),
        (WorkerLost("killed", False), "killed; nothing is lost; quit and start vidya again"),
        (ModelChanging("10m-base"), "changing to 10m-base; book training stops; go on typing"),
        (Grown("49m", 49_000_000), "49m is there, 49M weights"),
        (Failed("learn", "no room", "free some"), "no room; free some"),
        (PracticeStage("x", "during", 9, accuracy=0.1, alarm="too good"), "practice: too good"),
    ],
)
def test_what_the_owner_is_told(event: Event, words: str) -> None:
    before = busy()
    said = told(before, event, after(before, event))
    assert said is not None and said.text.startswith(words)


def test_what_a_change_of_model_breaks_off_is_told() -> None:
    event = ModelChanging("10m-base")
    for before, words in ((BUSY, "; practice stops"), (TeacherState(), "")):
        said = told(before, event, after(before, event))
        assert said is not None and said.text == f"changing to 10m-base{words}; go on typing"


def test_what_was_said_once_is_not_said_again() -> None:
    known = StateStore()
    assert known.take(READY) is None, "nobody waits for it"
    assert known.take(Failed("load", "no weights", "restore them")) is not None
    assert known.take(WorkerLost("ended", False)) is None, "it has said itself what is wrong"
    known = StateStore()
    known.change(model=replace(known.now.model, promised=True))
    assert known.take(READY) == StatusMessage("") and known.take(READY) is None
    known.take(WorkerLost("killed", True))
    assert known.take(READY) == StatusMessage("the model is back") and known.take(READY) is None


DONE = PracticeDone("x", "steps", "", 9, 0, 0.3, None, 0.5, 1.0, 1.0, 60.0, "", 1, 9, 2)
ALARM = "drawing and training disagree"


def test_an_alarm_that_only_the_end_of_a_practice_has_is_told_with_it() -> None:
    known = StateStore()
    known.change(practice=practice.begun("x"))
    said = known.take(replace(DONE, alarm=ALARM))
    assert said is not None and said.trouble and said.stay
    assert said.text.endswith(f"; alarm: {ALARM}")
    assert known.now.practice.alarm == ALARM


def test_an_alarm_of_a_save_point_is_not_told_again_at_the_end() -> None:
    for ended, why in (("steps", ""), ("alarm", f"stopped by alarms ({ALARM})")):
        known = StateStore()
        known.take(PracticeStage("x", "during", 9, accuracy=0.1, alarm=ALARM))
        done = replace(DONE, ended=ended, why=why, alarm=ALARM)
        said = known.take(done)
        assert said is not None and said.text == practice.done(done) and not said.trouble
    unseen = StateStore().take(done)
    assert unseen is not None and unseen.text.count(ALARM) == 1, "the reason says it"


def test_alarms_of_a_night_are_told_in_the_morning() -> None:
    known = StateStore()
    known.change(practice=practice.begun("x", idle_runs=()))
    known.take(replace(DONE, idle=True, alarm=ALARM))
    known.change(practice=practice.begun("x", idle_runs=known.now.practice.idle_runs))
    said = known.take(replace(DONE, idle=True))
    assert said is not None and said.trouble and said.text.endswith(f"; alarm: {ALARM}")


def test_idle_practices_are_told_together_until_the_owner_was_here() -> None:
    known = StateStore()
    done = PracticeDone("x", "steps", "", 100, 0, 0.3, None, 0.5, 1.0, 1.0, 60.0, "", 1, 9, 2, True)
    known.change(practice=practice.begun("x", idle_runs=()))
    known.take(done)
    runs = known.now.practice.idle_runs
    known.change(practice=practice.begun("x", idle_runs=runs))
    said = known.take(replace(done, accuracy_before=0.5, accuracy_after=0.7))
    assert said is not None and said.stay and said.text.startswith("while you were away: ")
    assert "30 % \u2192 70 %" in said.text and "after 200 steps" in said.text


def test_a_reason_that_is_given_up_is_told() -> None:
    said = StateStore().take(ReasonGivenUp(3, "as a [b]pirate[/]"))
    assert said is not None and not said.trouble
    assert said.text.startswith(
        "no other answer was found that follows \u201cas a [b]pirate[/]\u201d; it holds"
    )
