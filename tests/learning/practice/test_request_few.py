"""Practice on a few examples through the teacher: what is told, journaled and repeated."""

from __future__ import annotations

import pytest

from learning.journal.practices import practice_entry, practice_steps, same_steps
from learning.protocol.events import Failed, PracticeDone, PracticeSample, PracticeStep, UndoDone
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import Practise, Undo
from tests.practice_room import Room, same

TWO = ("few.examples=2", "few.example=3", "few.order=random", "shown=8")


@pytest.mark.slow
def test_only_the_examples_are_practised_and_each_is_told(room: Room) -> None:
    done, got = room.practise(warm_up=True, steps=2, options=TWO)
    steps = [event for event in got if isinstance(event, PracticeStep)]
    assert {arm.name for step in steps for arm in step.arms} == {"example 3", "example 4"}
    assert len({event.prompt for event in got if isinstance(event, PracticeSample)}) == 2
    assert done.arms_before == {}, "held-out problems are those of the task"
    assert done.run is not None
    options = practice_entry(room.journal, done.run).record["options"]
    assert (options["few.examples"], options["few.order"]) == ("2", "random")
    kept = practice_steps(room.journal, done.run)
    assert {arm["name"] for arm in kept[-1]["arms"]} == {"example 3", "example 4"}


def test_what_cannot_be_is_told(room: Room) -> None:
    room.teacher.send(Practise("easy", seed=0, options=("few.examples=2", "few.order=blocks")))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "no forms" in failed.what


@pytest.mark.slow
def test_it_is_repeated_to_the_last_bit(room: Room) -> None:
    room.practise(warm_up=True, steps=1)
    words = (*TWO, "few.reference=2", "few.candidates=4")
    first, _ = room.practise(warm_up=False, steps=5, seed=5, options=words)
    after = room.weights
    record = practice_entry(room.journal, first.run or 0).record
    room.teacher.send(Undo())
    room.until(UndoDone)
    options = tuple(f"{name}={value}" for name, value in record["options"].items())
    again = Practise(
        "easy", warm_up=False, seed=record["seed"], options=options, again=first.run, steps=5
    )
    room.teacher.send(again)
    got = room.until(PracticeDone)
    started = next(event for event in got if isinstance(event, PracticeStarted))
    assert started.changed["few.reference"] == "2" and started.differs == ()
    second = got[-1]
    assert isinstance(second, PracticeDone)
    assert same_steps(room.journal, first.run or 0, second.run or 0) == (5, 5)
    assert same(room.weights, after)
