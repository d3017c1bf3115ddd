"""Practice by the teacher: journal, publication, undo, cancelling, and the owner who comes back."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

import learning.memory.build
import learning.practice.request
import learning.practice.trainer
from engine.config import Sampling
from engine.errors import CheckpointError
from engine.model import Model
from engine.tokenizers.load import load_tokenizer
from learning.agents.value import ValueHead
from learning.journal.practices import listed_practices, practice_ids
from learning.lessons.learner import Learner
from learning.practice.critic import VALUE, RolloutCritic
from learning.practice.report import gains
from learning.practice.request import PracticeJob
from learning.practice.settings import CriticSettings
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    Failed,
    PracticeSample,
    PracticeStage,
    PracticeStep,
    UndoDone,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.records import Turn
from learning.protocol.requests import (
    Generate,
    Practise,
    Undo,
)
from learning.rewards.task import TaskOptions
from tests.learning.conftest import Place
from tests.practice_room import QUICK, Room, same
from tests.sums import Sums


@pytest.mark.slow
def test_practice_is_published_journaled_and_undone_as_one_lesson(room: Room) -> None:
    before = room.weights
    done, got = room.practise(warm_up=True, steps=4, seed=5, options=("warm_up.enough=0.5",))
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
    assert room.journal.rewards("tiny") and room.journal.rewards("another model") == []
    (gain,) = gains(room.journal, 3600.0)
    assert (gain.task, gain.steps, gain.accuracy_after) == ("easy", 4, done.accuracy_after)
    assert gains(room.journal, 3600.0, now=time.time() + 7200.0) == []
    (listed,) = listed_practices(room.journal, practice_ids(room.journal))
    assert (listed.entry.id, listed.steps, listed.samples) == (done.run, 4, len(samples))
    assert listed.lessons == ((lesson.id, True),)

    room.teacher.send(Undo())
    undone = room.until(UndoDone)[-1]
    assert isinstance(undone, UndoDone) and undone.what == "took back practice of easy"
    assert same(room.weights, before), "exactly the weights before it"
    assert room.journal.lesson(lesson.id).state == "undone"
    assert room.journal.last_lesson() is None
    (listed,) = listed_practices(room.journal, practice_ids(room.journal))
    assert listed.lessons == ((lesson.id, False),)


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
    assert {(e.steps, e.enough) for e in warm} == {(100, 0.2)}, "it is said how long it may take"
    again, _ = room.practise(steps=1)
    assert again.warm_up_steps == 0, "it can do it now"


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


@pytest.mark.slow
def test_a_model_that_was_taught_tags_says_so_and_says_them(room: Room) -> None:
    def ask() -> str:
        room.teacher.send(Generate(1, (Turn("user", "3 + 4 ="),), 1, Sampling(0.0)))
        (done,) = [e for e in room.until(AskDone) if isinstance(e, CandidateDone)]
        return done.candidate.text

    long = ("max_tokens=40", "warm_up.enough=0.8")
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
    again, repeated = room.practise(task="tagged", warm_up=True, steps=1, options=long)
    assert again.accuracy_after == done.accuracy_after
    first, second = (
        [e.loss for e in events if isinstance(e, PracticeStage) and e.stage == "warm_up"]
        for events in (got, repeated)
    )
    both = min(len(first), len(second))
    assert both > 20 and first[:both] == second[:both], "it is taught as at first"


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
    _, got = room.practise(steps=1, warm_up=False, options=words, seed=0, again=again.run)
    assert loaded == [False, True, False], "the weights are others now"
    started = next(event for event in got if isinstance(event, PracticeStarted))
    assert any("critic began with another value" in one for one in started.differs)

    def full(*_: object) -> None:
        raise CheckpointError("the disk is full", "free some space")

    monkeypatch.setattr(ValueHead, "save", full)
    kept, _ = room.practise(steps=2, warm_up=False, options=words)
    assert kept.saves > 0, "what was practised does not depend on the value"
