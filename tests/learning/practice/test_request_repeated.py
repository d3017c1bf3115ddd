"""Practice with settings and options, journaled so that it can be repeated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.errors import ConfigError
from learning.journal.practices import (
    TIMED,
    practice_entry,
    practice_samples,
    practice_steps,
    same_steps,
)
from learning.practice.supply.arms import difficulty
from learning.protocol.events import (
    Failed,
    PracticeDone,
    UndoDone,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import (
    Practise,
    Undo,
)
from learning.rewards.task import Problem
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room, same
from tests.sums import EasySums


def test_settings_of_a_task_are_read_and_refused(tiny_place: Place) -> None:
    assert difficulty(("most=3", "name=x", 'forms=["all", "no"]', "share=0.5")) == {
        "most": 3,
        "name": "x",
        "forms": ("all", "no"),
        "share": 0.5,
    }
    for wrong in ("most", "=3"):
        with pytest.raises(ConfigError, match="setting"):
            difficulty((wrong,))


def figures(room: Room, run: int) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in step.items() if k not in TIMED}
        for step in practice_steps(room.journal, run)
    ]


@pytest.mark.slow
def test_a_run_is_journaled_with_all_that_repeats_it_to_the_last_bit(room: Room) -> None:
    words = ("normalise=by_answer", "ratio=sequence", "kl_reward=0.01", "max_age=1")
    first, got = room.practise(warm_up=True, steps=6, seed=5, options=words)
    after = room.weights
    started = next(event for event in got if isinstance(event, PracticeStarted))
    assert (started.run, started.seed) == (first.run, 5) and started.differs == ()
    assert started.changed["normalise"] == "by_answer" and started.changed["groups"] == "2"
    assert first.run is not None
    entry = practice_entry(room.journal, first.run)
    assert entry.record["seed"] == 5 and entry.record["options"] == started.options
    assert entry.record["packages"]["torch"] and entry.record["weights"]
    assert entry.outcome is not None and entry.outcome["ended"] == first.ended
    assert len(figures(room, first.run)) == first.steps == 6
    assert len(practice_samples(room.journal, first.run)) == 6 * QUICK.shown

    room.teacher.send(Undo())
    room.until(UndoDone)
    again = Practise(
        entry.task,
        warm_up=True,
        options=tuple(f"{k}={v}" for k, v in entry.record["options"].items()),
        seed=entry.record["seed"],
        again=first.run,
    )
    room.teacher.send(again)
    second = room.until(PracticeDone)[-1]
    assert isinstance(second, PracticeDone) and second.run is not None
    assert figures(room, first.run) == figures(room, second.run)
    assert same_steps(room.journal, first.run, second.run) == (6, 6)
    assert same(room.weights, after), "bit by bit"

    room.teacher.send(replace(again, again=second.run, steps=0, warm_up=False))
    third = [event for event in room.until(PracticeDone) if isinstance(event, PracticeStarted)]
    assert len(third[0].differs) == 1 and "began with other weights" in third[0].differs[0]


def test_a_run_that_is_not_in_the_journal_cannot_be_repeated(room: Room) -> None:
    room.teacher.send(Practise("easy", again=99))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "practice 99 is not in the journal" in failed.what


def test_options_arrive_and_wrong_ones_are_told(room: Room) -> None:
    room.teacher.send(Practise("easy", options=("normalise=by_foot",)))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "by_tokens, by_answer, by_constant" in failed.next_step
    done, got = room.practise(steps=0, warm_up=False, options=("held_out=2",))
    assert done.held_out == 2


def test_an_idle_run_of_a_task_without_worked_answers_is_repeated(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        EasySums, "_problem", lambda _, a, b: Problem(f"{a} + {b} =", a + b, None, "sums")
    )
    first, _ = room.practise(steps=1, warm_up=True, idle=True)
    again, _ = room.practise(steps=1, warm_up=True, again=first.run)
    assert (first.steps, again.steps, again.warm_up_steps) == (1, 1, 0)
    room.teacher.send(Practise("easy", warm_up=True, seed=0))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "no worked answers" in failed.what
