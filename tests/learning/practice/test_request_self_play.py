"""Self-play through the teacher: warm-up of asking, what is told and journaled, and what repeats it."""

from __future__ import annotations

import pytest

from learning.journal.practices import (
    practice_entries,
    practice_entry,
    practice_samples,
    practice_steps,
    same_steps,
)
from learning.protocol.events import (
    Failed,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    UndoDone,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import Practise, Undo
from tests.practice_room import Room, same

OWN = ("self_play.questions=4", "self_play.answers=4", "buffer_size=2", "max_tokens=12")


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("easy", (), "no program can answer"),
        ("asked", ("few.examples=2",), "a list of examples"),
        ("asked", ("critic.answers=100",), "a critic"),
        ("asked", ("self_play.answers=1",), "answers"),
    ],
)
def test_what_cannot_be_is_told(room: Room, task: str, options: tuple[str, ...], said: str) -> None:
    room.teacher.send(Practise(task, seed=0, warm_up=False, options=(*OWN, *options)))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and said in failed.what
    assert practice_entries(room.journal) == [], "a run that cannot begin is none"


def test_several_tasks_ask_nothing(room: Room) -> None:
    room.teacher.send(Practise("both", arms=("asked", "easy"), options=OWN))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "several tasks" in failed.what


def test_without_warm_up_a_model_that_cannot_ask_is_told_so(room: Room) -> None:
    done, got = room.practise(task="asked", warm_up=False, steps=9, options=OWN)
    assert done.ended == "too_hard" and done.steps == 3
    steps = [event for event in got if isinstance(event, PracticeStep)]
    assert all(step.asking and step.asking.valid == 0 for step in steps)
    assert done.asked_before == done.asked_after == {}


@pytest.mark.slow
def test_it_learns_to_ask_and_asks_itself(room: Room) -> None:
    done, got = room.practise(task="asked", steps=4, options=OWN)
    warm = [e for e in got if isinstance(e, PracticeStage) and e.stage == "warm_up"]
    assert warm and done.warm_up_steps and done.accuracy_warm is not None
    steps = [event for event in got if isinstance(event, PracticeStep)]
    assert [step.step for step in steps] == [1, 2, 3, 4]
    for step in steps:
        assert step.asking is not None and step.asking.asked == 16
        assert sum(step.asking.levels.values()) == step.asking.valid
        assert step.groups == step.asking.distinct, "each different question is answered once"
    assert any(step.asking and step.asking.valid > 4 for step in steps)
    assert any(step.updates for step in steps)
    questions = [e for e in got if isinstance(e, PracticeSample) and e.prompt == "Ask"]
    assert questions and "valid" in questions[0].components
    first = next(step.asking for step in steps if step.asking and step.asking.valid)
    assert done.asked_before == first.levels
    assert done.run is not None
    kept = practice_steps(room.journal, done.run)
    assert kept[0]["asking"]["asked"] == 16
    assert any(one.prompt == "Ask" for one in practice_samples(room.journal, done.run))
    entry = practice_entry(room.journal, done.run)
    assert entry.record["options"]["self_play.reward"] == "learnability"
    assert entry.outcome is not None and entry.outcome["asked_before"] == first.levels


@pytest.mark.slow
def test_it_is_repeated_to_the_last_bit_and_undone(room: Room) -> None:
    room.practise(task="asked", steps=1, options=OWN)
    before = room.weights
    words = (*OWN, "self_play.reward=azr", "self_play.kl_reward=0.1")
    first, _ = room.practise(task="asked", warm_up=False, steps=4, seed=5, options=words)
    after, record = room.weights, practice_entry(room.journal, first.run or 0).record
    assert first.saves and not same(before, after)
    room.teacher.send(Undo())
    room.until(UndoDone)
    assert same(room.weights, before)
    options = tuple(f"{name}={value}" for name, value in record["options"].items())
    again = Practise(
        "asked", warm_up=False, seed=record["seed"], options=options, again=first.run, steps=4
    )
    room.teacher.send(again)
    got = room.until(PracticeDone)
    started = next(event for event in got if isinstance(event, PracticeStarted))
    assert started.changed["self_play.reward"] == "azr" and started.differs == ()
    second = got[-1]
    assert isinstance(second, PracticeDone)
    assert same_steps(room.journal, first.run or 0, second.run or 0) == (4, 4)
    assert same(room.weights, after)
