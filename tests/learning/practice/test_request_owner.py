"""Practice that makes way: cancelled, behind a lesson, and in idle hours when the owner comes back."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
import torch

import learning.memory.build
import learning.practice.request
import learning.practice.trainer
from engine.model import Model
from learning.practice.requested import IDLE_TOKENS, practice_settings
from learning.practice.sampling.rollouts import HeldOut, RolloutSampler
from learning.practice.settings import PracticeSettings
from learning.protocol.events import (
    LessonDone,
    PracticeDone,
    PracticeStage,
    PracticeStep,
    TrainDone,
)
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import (
    CancelPractice,
    CancelTraining,
    Learn,
    OwnerActive,
    Practise,
    Train,
)
from learning.teacher.scheduling import at_lowest_priority
from tests.learning.conftest import Place
from tests.practice_room import Room, same


def test_it_ends_at_once_where_nothing_was_learned_yet(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    asked = RolloutSampler.held_out

    def held_out(self: RolloutSampler, *given: Any) -> HeldOut:
        looked.set()
        time.sleep(0.2)  # the owner presses the key meanwhile
        return asked(self, *given)

    monkeypatch.setattr(RolloutSampler, "held_out", held_out)
    before = room.weights
    room.teacher.send(Practise("easy", seed=0))
    assert looked.wait(60.0)
    room.teacher.send(CancelPractice())
    got = room.until(PracticeDone)
    done = got[-1]
    assert isinstance(done, PracticeDone) and done.ended == "stopped"
    assert not [e for e in got if isinstance(e, PracticeStage | PracticeStep)]
    assert same(before, room.weights)


@pytest.mark.slow
def test_a_training_that_waits_behind_something_ends_when_it_is_cancelled(room: Room) -> None:
    room.teacher.send(Practise("easy", seed=0, steps=10_000))
    room.until(PracticeStep)
    with room.teacher._turnstile.answering():  # the learner waits in the middle of a step
        room.teacher.send(Train())
        room.teacher.send(CancelTraining())
        done = room.until(TrainDone, seconds=5.0)[-1]
    assert isinstance(done, TrainDone) and done.cancelled and done.recall_before is None
    room.teacher.send(CancelPractice())
    room.until(PracticeDone)


@pytest.mark.slow
def test_cancelling_keeps_what_was_gained(room: Room) -> None:
    room.practise(warm_up=True, steps=0)
    before = room.weights
    room.teacher.send(Practise("easy", seed=0, steps=10_000))
    room.until(PracticeStep)
    room.teacher.send(CancelPractice())
    done = room.until(PracticeDone)[-1]
    assert isinstance(done, PracticeDone) and done.ended == "stopped"
    assert 1 <= done.steps < 100 and done.saves >= 1
    assert not same(room.weights, before)


@pytest.mark.slow
def test_a_lesson_goes_first_and_practice_goes_on(room: Room) -> None:
    room.practise(warm_up=True, steps=0)
    room.teacher.send(Practise("easy", seed=0, steps=30))
    room.until(PracticeStep)
    (lesson,) = room.journal.add_lessons([Lesson("example", (Turn("user", "Who?"),), "Me.")])
    room.teacher.send(Learn())
    got = room.until(PracticeDone, 120.0)
    done = got[-1]
    kinds = [type(event) for event in got]
    assert LessonDone in kinds
    place = kinds.index(LessonDone)
    later = [event.step for event in got[place:] if isinstance(event, PracticeStep)]
    assert later and isinstance(done, PracticeDone) and done.steps <= 30
    assert later[0] < 30 and later[-1] == done.steps, "the number of steps goes on"
    assert room.journal.lesson(lesson.id).state in ("learned", "needs_practice")


@pytest.mark.slow
def test_a_key_ends_idle_practice_at_once_and_keeps_what_was_saved(room: Room) -> None:
    room.practise(warm_up=True, steps=0)
    room.teacher.send(Practise("easy", seed=0, steps=10_000, idle=True))
    saved = False
    while not saved:  # the first save point
        event = room.until(PracticeStage)[-1]
        saved = isinstance(event, PracticeStage) and event.saved
    time.sleep(0.05)
    pressed = time.monotonic()
    room.teacher.send(OwnerActive())
    done = room.until(PracticeDone)[-1]
    assert time.monotonic() - pressed < 1.0  # the bound itself is measured on a real model
    assert isinstance(done, PracticeDone) and done.idle and done.ended == "stopped"
    version = done.version
    assert room.teacher._learner.published.version == version
    ours = room.teacher._learner.weights.model.state_dict()
    kept = room.weights
    assert all(torch.allclose(ours[key], kept[key]) for key in kept), "back to the last save"
    assert all(p.grad is None for p in room.teacher._learner.weights.model.parameters())


def test_what_the_idle_thread_raises_arrives() -> None:
    names = []

    def work() -> None:
        names.append(threading.current_thread().name)
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        at_lowest_priority(work)
    assert names == ["idle"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own there")
def test_idle_practice_makes_way_after_every_block_and_at_lowest_priority(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = learning.practice.request.interruptible

    def watched(model: Model, pause: Callable[[], None]) -> AbstractContextManager[None]:
        asked.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return real(model, pause)

    monkeypatch.setattr(learning.practice.request, "interruptible", watched)
    room.practise(steps=0)
    assert asked == [], "the owner waits for it"
    room.practise(steps=0, idle=True)
    assert asked == [19]


def test_idle_practice_takes_small_pieces(tiny_place: Place) -> None:
    settings = practice_settings(
        replace(PracticeSettings(), measure_every=10), Practise("easy", idle=True)
    )
    assert settings.objective.micro_tokens == IDLE_TOKENS
    assert settings.measure_every == 5
