"""Practice that is undone, whose answers cannot be scored, or that is interrupted by the owner."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from learning.journal.practices import practice_entries
from learning.practice.report import gains
from learning.practice.request import PracticeJob
from learning.protocol.events import Failed, PracticeDone, PracticeStage, PracticeStep, UndoDone
from learning.protocol.requests import OwnerActive, Practise, Undo
from learning.rewards.task import Problem, Score
from tests.practice_room import Room, same
from tests.sums import EasySums, Sums
from vidya_tui.state import practice as practice_state


@pytest.mark.slow
def test_practice_that_is_taken_back_while_it_runs_is_over(room: Room) -> None:
    before = room.weights
    room.teacher.send(Practise("easy", seed=0, steps=10_000, warm_up=True))
    while True:  # the first save point
        event = room.until(PracticeStage)[-1]
        if isinstance(event, PracticeStage) and event.saved:
            break
    room.teacher.send(Undo())
    got = room.until(PracticeDone)
    done, kinds = got[-1], [type(event) for event in got]
    assert isinstance(done, PracticeDone)
    assert (done.ended, done.accuracy_after) == ("stopped", done.accuracy_before)
    assert done.why.startswith("taken back")
    assert PracticeStep not in kinds[kinds.index(UndoDone) :]
    assert same(room.weights, before)


def test_what_cannot_be_judged_is_not_called_too_hard(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = room.weights
    monkeypatch.setattr(EasySums, "_score", lambda *_: Score.failure("NoSandbox: no walls"))
    room.teacher.send(Practise("easy", seed=0, warm_up=True))
    got = room.until(Failed)
    failed = got[-1]
    assert isinstance(failed, Failed)
    assert failed.what == "easy: not one of 4 answers could be judged (NoSandbox: no walls)"
    assert not any(isinstance(event, PracticeStage) for event in got), "nothing was warmed up"
    assert same(room.weights, before)


@pytest.mark.parametrize("task", ["gsm8k", "tool_gsm8k"])
def test_a_run_whose_data_cannot_be_read_does_not_begin(
    room: Room, tmp_path: Path, task: str
) -> None:
    room.teacher.send(Practise(task, data=str(tmp_path / "none.jsonl"), steps=1))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "none.jsonl: does not exist" in failed.what
    assert practice_entries(room.journal) == [], "no run is in the list"


class Slow:
    """A scorer that waits until it is allowed to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.end, self.closed = threading.Event(), threading.Event(), threading.Event()
        own, close = Sums.score, Sums.close

        def score(task: Sums, problem: Problem, answers: Sequence[str]) -> list[Score]:
            self.begun.set()
            assert self.end.wait(60.0)
            return own(task, problem, answers)

        def closed(task: Sums) -> None:
            close(task)
            self.closed.set()

        monkeypatch.setattr(Sums, "score", score)
        monkeypatch.setattr(Sums, "close", closed)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    scorer = Slow(monkeypatch)
    yield scorer
    scorer.end.set()


def test_a_key_ends_idle_practice_while_a_scorer_still_works(room: Room, slow: Slow) -> None:
    room.teacher.send(Practise("easy", idle=True))
    assert slow.begun.wait(60.0)
    room.teacher.send(OwnerActive())
    done = room.until(PracticeDone)[-1]
    assert isinstance(done, PracticeDone) and done.ended == "stopped"
    assert (done.accuracy_before, done.book_after) == (None, None)
    assert "%" not in practice_state.done(done), "nothing was measured"
    assert not slow.closed.is_set(), "its task is ended when it is done"
    slow.end.set()
    assert slow.closed.wait(60.0)


def test_idle_practice_of_a_task_without_worked_answers_does_without(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without(task: Sums, a: int, b: int) -> Problem:
        return Problem(f"{a} + {b} =", a + b)

    monkeypatch.setattr(Sums, "_problem", without)
    done, _ = room.practise(idle=True, warm_up=True, steps=0)
    assert (done.ended, done.warm_up_steps) == ("steps", 0)
    room.teacher.send(Practise("easy", seed=0, warm_up=True, steps=0))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and "no worked answers" in failed.what


@pytest.mark.slow
def test_other_settings_are_another_task_in_the_report(room: Room) -> None:
    for settings in ((), ("most=5",), ("most=7",)):
        room.practise(steps=1, settings=settings)
    assert {gain.task for gain in gains(room.journal, 3600.0)} == {
        "easy",
        "easy most=5",
        "easy most=7",
    }


def test_without_a_seed_the_problems_are_others_each_time(room: Room) -> None:
    learner = room.teacher._learner

    def seed(given: int | None) -> int:
        request = Practise("easy", seed=given)
        return PracticeJob(
            learner.transaction,
            learner.tokenizer,
            room.journal,
            request,
            pause=lambda: None,
            emit=lambda _: None,
        ).seed

    assert seed(None) != seed(None)
    assert seed(0) == 0
