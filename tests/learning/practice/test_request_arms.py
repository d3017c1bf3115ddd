"""Practice of several tasks by a curriculum: what is told, journaled and repeated, and nights of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import learning.memory.build
from engine.storage.checkpoint import load_model
from learning.journal.journal import Journal
from learning.journal.practices import kept_curriculum, practice_entry, practice_steps, same_steps
from learning.lessons.learner import Learner
from learning.memory.save_points import LessonSavePoints
from learning.practice.idle import Idle
from learning.practice.report import gains
from learning.practice.request import PracticeJob
from learning.practice.run import Interrupted
from learning.practice.trainer import GrpoTrainer
from learning.protocol.events import Event, PracticeDone, PracticeStage, PracticeStep, UndoDone
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import Undo
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room, same
from tests.sums import register
from vidya_tui.state import practice as practice_state
from vidya_tui.state.practice_runs import entry_line

ARMS = ("easy", "easy most=3")
TOGETHER = "easy × 2"
TINY = replace(QUICK, steps=4, warm_up=replace(QUICK.warm_up, save_every=1, measured=16))


def practised(room: Room, **more: Any) -> tuple[PracticeDone, list[Event]]:
    return room.practise(task=TOGETHER, arms=ARMS, **more)


@pytest.mark.slow
def test_each_arm_is_told_journaled_and_in_the_report(room: Room) -> None:
    done, got = practised(room, warm_up=True, steps=2)
    assert done.task == TOGETHER and done.arms_before.keys() == set(ARMS)
    assert done.arms_after.keys() == set(ARMS)
    steps = [event for event in got if isinstance(event, PracticeStep)]
    for step in steps:
        assert [arm.name for arm in step.arms] == list(ARMS)
        assert sum(arm.weight for arm in step.arms) == pytest.approx(1.0, abs=1e-5)
        assert sum(arm.groups for arm in step.arms) == step.groups
        assert all(arm.accuracy is not None for arm in step.arms)
    looks = [event for event in got if isinstance(event, PracticeStage) and event.by_arm]
    assert looks[0].stage == "before" and looks[0].by_arm.keys() == set(ARMS)
    assert done.run is not None
    kept = practice_steps(room.journal, done.run)
    assert kept[-1]["curriculum"].keys() == {"estimates"}
    found = {gain.task: gain for gain in gains(room.journal, 3600.0)}
    assert found.keys() == set(ARMS), "each by its own name, as if it had been practised alone"
    assert sum(gain.seconds for gain in found.values()) == pytest.approx(done.seconds)
    said = practice_state.done(done)
    assert all(f"{arm} " in said for arm in ARMS) and "Held out, " in said


@pytest.mark.slow
def test_a_later_run_goes_on_with_what_the_curriculum_knew(room: Room) -> None:
    first, _ = practised(room, warm_up=True, steps=2)
    kept = kept_curriculum(room.journal, ARMS, "sec", "tiny")
    assert kept and kept.arms == ARMS
    assert kept.state == practice_steps(room.journal, first.run or 0)[-1]["curriculum"]
    second, got = practised(room, warm_up=False, steps=1)
    assert practice_entry(room.journal, second.run or 0).record["curriculum"] == kept.state
    assert kept_curriculum(room.journal, ARMS, "exp3", "tiny") is None
    assert kept_curriculum(room.journal, ("hard",), "sec", "tiny") is None
    assert kept_curriculum(room.journal, ARMS, "sec", "49m") is None, "each model has its own"
    assert entry_line(practice_entry(room.journal, second.run or 0))


@pytest.mark.slow
def test_it_is_repeated_to_the_last_bit(room: Room) -> None:
    practised(room, warm_up=True, steps=1)
    words = ("curriculum.method=exp3",)
    first, _ = practised(room, warm_up=False, steps=4, seed=5, options=words)
    after = room.weights
    entry = practice_entry(room.journal, first.run or 0)
    room.teacher.send(Undo())
    room.until(UndoDone)
    options = tuple(f"{k}={v}" for k, v in entry.record["options"].items())
    second, got = practised(room, warm_up=False, seed=5, options=options, again=first.run, steps=4)
    started = next(event for event in got if isinstance(event, PracticeStarted))
    assert started.changed["curriculum.method"] == "exp3"
    assert same_steps(room.journal, first.run or 0, second.run or 0) == (4, 4)
    assert same(room.weights, after)


# ---------------------------------------------------------------- nights


class Nights:
    """Idle practice of one home without a teacher, which a key may end at any call of `pause`."""

    def __init__(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.folder, self.journal = place
        self.calls = 0
        self.saved: list[dict[str, torch.Tensor]] = [self.on_disk()]
        own = LessonSavePoints.save

        def save(points: LessonSavePoints, note: str) -> None:
            own(points, note)
            self.saved.append(self.on_disk())

        monkeypatch.setattr(LessonSavePoints, "save", save)
        self.learner = Learner(self.home, self.folder, self.journal)

    def on_disk(self) -> dict[str, torch.Tensor]:
        return load_model(self.folder).state_dict()

    def night(
        self,
        key_after: int | None,
        seed: int,
        *,
        key_after_save: bool = False,
        goes_on: bool = False,
    ) -> PracticeDone:
        """One idle practice. key_after: calls of `pause` before the key; None: no key. key_after_save: the
        key comes once something was saved. goes_on: after the key a second part of it is practised."""
        self.calls, events, saves = 0, list[Event](), len(self.saved)
        pressed = False

        def pause() -> None:
            nonlocal pressed
            self.calls += 1
            late = key_after is not None and self.calls >= key_after
            if late or (key_after_save and not pressed and len(self.saved) > saves):
                pressed = True
                raise Interrupted

        plan = Idle(1, "easy", 0.0, others=ARMS[1:]).plan()
        job = PracticeJob(
            self.learner.transaction,
            self.learner.tokenizer,
            self.journal,
            replace(plan, seed=seed),
            pause=pause,
            emit=events.append,
            settings=TINY,
        )
        try:
            job.practise(lambda: pressed)
            if goes_on:
                assert pressed
                job.practise(lambda: False)
            return job.done()
        finally:
            job.close()


@pytest.fixture
def nights(tiny_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nights]:
    monkeypatch.setattr(
        learning.memory.book_rows, "shipped_book_path", lambda: tmp_path / "none.txt"
    )
    monkeypatch.setattr(learning.memory.build, "own_talk", lambda *_: [])
    register(monkeypatch)
    yield Nights(tiny_place, monkeypatch)


def test_a_warm_up_that_a_key_ended_goes_on_the_next_night(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above a fifth too, where a night would not begin with worked examples otherwise."""
    begun = nights.night(None, 1, key_after_save=True)
    assert (begun.ended, begun.steps) == ("stopped", 0) and begun.warm_up_steps > 0
    assert practice_entry(nights.journal, begun.run or 0).record["warm_up"] is None
    monkeypatch.setattr(GrpoTrainer, "is_cold", lambda *_: False)
    done = nights.night(None, 2)
    record = practice_entry(nights.journal, done.run or 0).record
    assert record["warm_up"] is True and done.accuracy_warm is not None and done.steps
    done = nights.night(None, 3)
    assert practice_entry(nights.journal, done.run or 0).record["warm_up"] is None


def test_an_interrupted_warm_up_goes_on_in_the_next_part_of_the_same_run(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = iter([True])
    monkeypatch.setattr(GrpoTrainer, "is_cold", lambda *_: next(cold, False))
    done = nights.night(None, 1, key_after_save=True, goes_on=True)
    assert done.steps == TINY.steps and done.accuracy_warm is not None


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_nothing_is_lost_however_often_a_key_ends_it(nights: Nights, times: int) -> None:
    rng = random.Random(7)
    ended: list[PracticeDone] = []
    usual = 300
    for number in range(times):
        done = nights.night(rng.randint(1, usual), number)
        usual = max(usual, 2 * nights.calls)
        ended.append(done)
        assert same(nights.on_disk(), nights.saved[-1]), "what was saved, and nothing else"
        assert same(nights.learner.weights.model.state_dict(), nights.saved[-1])
        kept = kept_curriculum(nights.journal, ARMS, "sec", "tiny")
        begun = practice_entry(nights.journal, done.run or 0)
        assert begun.outcome is not None, "its end is in the journal"
        steps = practice_steps(nights.journal, done.run or 0)
        known = steps[-1]["curriculum"] if steps else begun.record["curriculum"]
        assert (kept.state if kept else {}) == known
    saves = len(nights.saved)
    whole = nights.night(None, 99)
    assert whole.steps == TINY.steps
    assert any(done.accuracy_warm is not None for done in [*ended, whole]), (
        "warm-up came to its end"
    )
    assert len(nights.saved) > saves and same(nights.on_disk(), nights.saved[-1])
    reopened = Learner(nights.home, nights.folder, Journal(nights.home.journal_path))
    assert same(reopened.weights.model.state_dict(), nights.saved[-1])
    assert reopened.weights.version == whole.version


@pytest.mark.slow
def test_a_warm_up_that_was_saved_is_not_begun_anew(nights: Nights) -> None:
    first = nights.night(None, 1)
    assert first.warm_up_steps > 0
    second = nights.night(None, 2)
    assert second.warm_up_steps == 0 and second.accuracy_warm is not None
    assert second.accuracy_before == first.accuracy_after


def test_the_morning_is_told_by_task_in_a_sentence() -> None:
    def run(before: float, after: float, **more: Any) -> PracticeDone:
        arms = ({"sums": before, "logic": 0.5}, {"sums": after, "logic": 0.52})
        return PracticeDone(
            *("sums, logic", "stopped", "interrupted; what was saved is kept", 5, 0, before, None),
            *(after, 1.0, 0.99, 600.0, "", 1, 100, 2, True, 1, *arms),
            **more,
        )

    runs = run(0.1, 0.3, joined=("chain_sum max_terms=3 min_terms=3",)), run(0.3, 0.45)
    state = replace(practice_state.begun("sums, logic"), idle_runs=runs)
    said = practice_state.done(practice_state.night(state))
    new = "New: chain_sum max_terms=3 min_terms=3, because chain_sum is solved or nearly so"
    assert new in said, "once, though it joined in an earlier run of the night"
    assert "sums rose from 10 % to 45 %, logic stayed at 52 %" in said
    assert "after 10 steps in 20 min" in said and "book recall 100 % → 99 %" in said
