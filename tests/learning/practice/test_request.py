"""Practice by the teacher: journal, publication, undo, cancelling, and the owner who comes back."""

from __future__ import annotations

import os
import re
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
from engine.config import Sampling
from engine.errors import ConfigError
from engine.model import Model
from engine.tokenizers.load import load_tokenizer
from learning.agents.value import ValueHead
from learning.journal.practices import (
    TIMED,
    practice_entry,
    practice_samples,
    practice_steps,
    same_steps,
)
from learning.lessons.learner import Learner
from learning.practice.critic import VALUE, RolloutCritic
from learning.practice.report import gains
from learning.practice.request import PracticeJob
from learning.practice.requested import IDLE_TOKENS, practice_settings
from learning.practice.sampling.rollouts import HeldOut, RolloutSampler
from learning.practice.settings import CriticSettings, PracticeSettings
from learning.practice.supply.arms import difficulty
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    Failed,
    LessonDone,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    TrainDone,
    UndoDone,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import (
    CancelPractice,
    CancelTraining,
    Generate,
    Learn,
    OwnerActive,
    Practise,
    Train,
    Undo,
)
from learning.rewards.task import TaskOptions
from learning.teacher.scheduling import at_lowest_priority
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room, same
from tests.sums import Sums


@pytest.mark.slow
def test_practice_is_published_journaled_and_undone_as_one_lesson(room: Room) -> None:
    before = room.weights
    done, got = room.practise(warm_up=True, steps=4)
    assert (done.ended, done.steps, done.saves, done.why) == ("steps", 4, 3, "")
    assert done.accuracy_warm is not None and done.warm_up_steps > 0
    assert done.accuracy_after >= done.accuracy_warm > done.accuracy_before
    steps = [event for event in got if isinstance(event, PracticeStep)]
    assert [step.step for step in steps] == [1, 2, 3, 4] and steps[0].steps == 4
    assert steps[-1].accuracy is not None and steps[0].components.keys() == {"correct"}
    samples = [event for event in got if isinstance(event, PracticeSample)]
    assert len(samples) == 4 * QUICK.shown and samples[0].prompt.endswith("=")
    stages = [event.stage for event in got if isinstance(event, PracticeStage)]
    assert stages[0] == "before" and stages[-1] == "during" and "warmed_up" in stages

    (lesson,) = room.journal.lessons(kinds=["practice"])
    assert (lesson.state, lesson.prompt[0].text) == ("learned", "easy")
    assert lesson.id in room.journal.lessons_in(done.version)
    assert len(list((room.folder / "snapshots").iterdir())) == 1, "the weights before it, once"
    assert not same(room.weights, before)
    (gain,) = gains(room.journal, 3600.0)
    assert (gain.task, gain.steps, gain.accuracy_after) == ("easy", 4, done.accuracy_after)
    assert gains(room.journal, 3600.0, now=time.time() + 7200.0) == []

    room.teacher.send(Undo())
    undone = room.until(UndoDone)[-1]
    assert isinstance(undone, UndoDone) and undone.what == "took back practice of easy"
    assert same(room.weights, before), "exactly the weights before it"
    assert room.journal.lesson(lesson.id).state == "undone"
    assert room.journal.last_lesson() is None


def test_a_task_that_does_not_exist_is_a_failure(room: Room) -> None:
    room.teacher.send(Practise("esay"))
    failed = room.until(Failed)[-1]
    assert isinstance(failed, Failed) and failed.where == "practise"
    assert "esay" in failed.what and "easy" in failed.next_step


def test_a_task_without_a_right_answer_says_so(room: Room) -> None:
    done, _ = room.practise(task="hard", steps=20, warm_up=False, options=("redraws=0",))
    assert (done.ended, done.steps, done.saves) == ("too_hard", 3, 0)
    assert "warm hard up with worked examples first" in done.why, done.why
    assert room.journal.lessons(kinds=["practice"]) == [], "nothing was learned"


@pytest.mark.slow
def test_what_it_cannot_do_at_all_is_warmed_up_without_being_asked_to(room: Room) -> None:
    done, got = room.practise(steps=2)
    assert done.accuracy_before is not None and done.accuracy_before < 0.02
    assert done.warm_up_steps > 0 and done.accuracy_warm is not None
    warm = [e for e in got if isinstance(e, PracticeStage) and e.stage == "warm_up"]
    assert {(e.steps, e.enough) for e in warm} == {(100, 0.5)}, "it is said how long it may take"
    again, _ = room.practise(steps=1)
    assert again.warm_up_steps == 0, "it can do it now"


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


@pytest.mark.slow
def test_what_a_crash_lost_is_not_said_to_be_known(room: Room, tiny_place: Place) -> None:
    old = (room.folder / "model.safetensors").read_bytes()
    room.practise(warm_up=True, steps=0)
    room.teacher.close()
    (room.folder / "model.safetensors").write_bytes(old)
    home, folder, _ = tiny_place
    Learner(home, folder, room.journal)
    (lesson,) = room.journal.lessons(kinds=["practice"])
    assert lesson.state == "needs_practice"
    assert room.journal.waiting() == [] == room.journal.riders()


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


@pytest.mark.slow
def test_a_model_that_was_taught_tags_says_so_and_says_them(room: Room) -> None:
    def ask() -> str:
        room.teacher.send(Generate(1, (Turn("user", "3 + 4 ="),), 1, Sampling(0.0)))
        (done,) = [e for e in room.until(AskDone) if isinstance(e, CandidateDone)]
        return done.candidate.text

    long = ("max_tokens=40",)
    assert not load_tokenizer(room.folder).says_tags
    room.practise(warm_up=True, steps=1)
    assert not load_tokenizer(room.folder).says_tags, "answers without tags teach none"
    done, got = room.practise(task="tagged", warm_up=True, steps=1, options=long)
    assert done.accuracy_warm is not None and done.accuracy_warm > 0.0
    assert load_tokenizer(room.folder).says_tags
    assert re.fullmatch(r"<think>.*</think><answer>\d+</answer>", ask())
    samples = [e for e in got if isinstance(e, PracticeSample)]
    assert all("<answer>" in sample.text for sample in samples if sample.reward)

    room.teacher.send(Undo())
    room.until(UndoDone)
    assert "<" not in ask(), "the weights before it know none"
    again, _ = room.practise(task="tagged", warm_up=True, steps=1, options=long)
    assert (again.warm_up_steps, again.accuracy_after) == (done.warm_up_steps, done.accuracy_after)


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


def test_a_small_model_is_paid_only_for_an_answer_field(
    tiny_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[TaskOptions] = []

    def find(name: str, options: TaskOptions) -> Sums:
        given.append(options)
        return Sums(9)

    home, folder, journal = tiny_place
    learner = Learner(home, folder, journal)
    for words in ((), ("field_below=0",)):
        PracticeJob(
            learner.transaction,
            learner.tokenizer,
            journal,
            Practise("sums", options=words),
            pause=lambda: None,
            emit=lambda _: None,
            find=find,
        )
    assert [options.needs_field for options in given] == [True, False]


@pytest.mark.slow
def test_a_value_is_kept_with_its_weights_and_left_aside_with_others(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[bool] = []

    class Ready(RolloutCritic):
        def __init__(self, model: Model, settings: CriticSettings, head: ValueHead | None) -> None:
            loaded.append(head is not None)
            super().__init__(model, settings, head)

        @property
        def ready(self) -> bool:
            return self._seen > 0

    settings = replace(QUICK, critic=replace(QUICK.critic, step=Ready))
    monkeypatch.setattr(learning.practice.request, "PracticeSettings", lambda: settings)
    words = ("critic.answers=4",)
    done, _ = room.practise(steps=2, warm_up=True, options=words)
    path = room.folder / VALUE
    assert path.exists() and done.saves > 0
    ValueHead.load(path, done.version, "easy")
    again, _ = room.practise(steps=2, warm_up=False, options=words)
    assert loaded == [False, True] and again.version > done.version
    ValueHead.load(path, again.version, "easy")
    room.teacher.send(Undo(None))
    room.until(UndoDone)
    room.practise(steps=1, warm_up=False, options=words)
    assert loaded == [False, True, False], "the weights are others now"
