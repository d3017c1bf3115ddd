"""learning.lessons.consolidate: pauses mend what is broken and rehearse in other words."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from engine.storage.checkpoint import load_model
from learning.data.examples import Example
from learning.lessons import consolidate
from learning.lessons.batch import COPIES, BatchAccumulator, MixedBatch
from learning.lessons.consolidate import LOOK, REHEARSED, Consolidator, Rehearsal
from learning.lessons.learner import Learner
from learning.lessons.recipe import LessonTransaction, TeachResult
from learning.memory.margins import Margin
from learning.memory.own_talk import LOOK_BACK, RENEWED
from learning.models.files import TALK
from learning.objectives.forward import Knowledge, knowledge
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import knows, lesson, open_learner, place, read_book  # noqa: F401
from tests.learning.lessons.test_undo import publish


@pytest.mark.slow
def test_a_pause_mends_what_is_found_broken(place: Place) -> None:  # noqa: F811
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    assert not learner.catch_up(), "all is known and was looked at"
    version = learner.version
    noise = torch.Generator().manual_seed(0)
    while not learner.tracker.lost(learner.replay.book):  # a lesson that nobody looked after
        with torch.no_grad():
            for weight in learner.weights.model.blocks[1].parameters():
                weight.add_(0.02 * torch.randn(weight.shape, generator=noise))
        learner.tracker.measure(learner.caches.upper, learner.replay.book)
    rounds = 0
    while learner.catch_up() and rounds < 20:
        rounds += 1
    assert learner.version > version
    assert learner.book_recall == 1.0
    model = load_model(learner.folder)
    assert all(item.known for item in knowledge(model, learner.replay.book))


@pytest.mark.slow
def test_a_pause_that_mends_nothing_leaves_the_weights_as_they_were(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = open_learner(place)
    tracker, broken = learner.tracker, learner.replay.book[0]
    tracker.restore(tracker.state() | {broken.ids: Margin(-1.0, 0, True)})  # known once
    weight = learner.weights.model.blocks[1].ffn.down.weight
    before, version = weight.detach().clone(), learner.version

    def steps(*_: object) -> TeachResult:
        with torch.no_grad():
            weight.add_(1.0)
        return TeachResult(1, 1.0, False, 32)

    monkeypatch.setattr(learner.transaction, "teach", steps)
    assert learner.catch_up() and not learner.catch_up(), "it is given up"
    assert torch.equal(weight, before) and learner.version == version
    assert tracker.lost(learner.replay.book) == [broken]


@pytest.mark.slow
def test_what_was_never_known_is_left_to_book_training(place: Place) -> None:  # noqa: F811
    learner = open_learner(place)
    assert learner.book_recall < 0.5
    version = learner.version
    while learner.catch_up():
        pass
    assert learner.version == version


@pytest.mark.slow
def test_a_pause_looks_at_earlier_lessons_in_other_words_again(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    earlier, later = lesson("What is my rabbit called?", "Clover."), lesson("Who are you?", "Me.")
    looked_at: list[str] = []
    wordings = Consolidator._wordings

    def spy(pauses: Consolidator, example: Example) -> list[Example]:
        looked_at.append(example.prompt)
        return wordings(pauses, example)

    monkeypatch.setattr(Consolidator, "_wordings", spy)
    for one in (earlier, later):
        looked_at.clear()
        (taught,) = journal.add_lessons([one])
        assert learner.learn(taught).known_after
        rounds = 0
        while learner.catch_up():
            rounds += 1
            assert rounds < 60, "it comes to an end"
    assert "who" in looked_at[0], "what was learned last comes first"
    assert any("rabbit" in prompt for prompt in looked_at)


@pytest.mark.slow
def test_a_pause_renews_some_own_talk_for_each_lesson(place: Place) -> None:  # noqa: F811
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    while learner.catch_up():
        pass
    before = list(learner.replay.talk)
    (taught,) = journal.add_lessons([lesson("What is my rabbit called?", "Clover.")])
    assert learner.learn(taught).known_after
    assert learner.replay.talk == before, "not before the owner pauses"
    rounds = 0
    while learner.catch_up():
        rounds += 1
        assert rounds < 60, "it comes to an end"
    new = [e for e in learner.replay.talk if e not in before]
    assert 0 < len(new) <= RENEWED + RENEWED // LOOK_BACK
    states = learner.caches.reference.at_targets(learner.replay.talk)
    assert len(states) == sum(e.targets for e in learner.replay.talk)


def test_renewals_that_the_last_run_left_are_planned_once(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = open_learner(place)
    learner.caches.prepare()
    os.utime(learner.folder / TALK, (time.time() - 60,) * 2)
    for question in ("What is first?", "What is next?", "What is last?"):
        publish(learner, lesson(question, "This one."))
    left = open_learner(place)
    left.caches.prepare()
    renewed = 0

    def renew(_: object) -> bool:
        nonlocal renewed
        renewed += 1
        os.utime(left.folder / TALK)  # as it does
        return True

    monkeypatch.setattr(left.caches, "renew_talk", renew)
    monkeypatch.setattr(Consolidator, "_rehearse", lambda self, one: self._fresh.remove(one))
    monkeypatch.setattr(Consolidator, "_revisit", lambda self: setattr(self, "_revisits", 0))
    while left.catch_up():
        pass
    assert renewed == 3
    again = open_learner(place)
    monkeypatch.setattr(again.caches, "renew_talk", renew)
    while again.catch_up():
        pass
    assert renewed == 3, "rehearsals that go on bring no renewals"


@pytest.mark.slow
def test_a_pause_rehearses_what_was_learned_in_other_words(place: Place) -> None:  # noqa: F811
    journal = place[2]
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    (taught,) = journal.add_lessons([lesson("What is my rabbit called?", "Clover.")])
    assert learner.learn(taught).known_after
    (example,) = learner.replay.taught
    wordings = learner.replay.wordings[example.ids]

    def known() -> int:
        return sum(item.known for item in knowledge(learner.published.model, wordings))

    before, snapshots = known(), sorted((learner.folder / "snapshots").iterdir())
    assert len(wordings) >= 12
    rounds = 0
    while learner.catch_up():
        rounds += 1
        assert rounds < 40, "it comes to an end"
    assert known() > before
    assert set(learner.replay.wordings[example.ids]) - set(wordings), "they are drawn anew"
    assert {e.answer for e in learner.replay.wordings[example.ids]} == {example.answer}
    assert knows(learner, taught) and learner.book_recall == 1.0
    assert sorted((learner.folder / "snapshots").iterdir()) == snapshots, "the lesson can be undone"
    done, _ = learner.undo(taught)
    assert done.lesson == taught.id
    assert not knows(learner, taught)


class Looks:
    """Stands in for a transaction and for `knowledge`. Counts the examples, of 48, that are measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, unknown: int, seed: int = 0) -> None:
        self.rng, self.caches = random.Random(seed), SimpleNamespace(upper=None)
        self.examples = [Example((number, 0), (False, True)) for number in range(48)]
        self.unknown, self.count = self.examples[:unknown], 0
        monkeypatch.setattr(consolidate, "knowledge", self.knowledge)

    def pause(self) -> None:
        pass

    def knowledge(
        self, _: object, examples: list[Example], *, pause: Callable[[], None]
    ) -> list[Knowledge]:
        self.count += len(examples)
        return [Knowledge(0.0, 1, -1.0 if e in self.unknown else 1.0) for e in examples]

    def some(self, count: int) -> list[Example]:
        transaction = cast(LessonTransaction, self)
        return Consolidator(transaction, lambda _: None)._some_unknown(self.examples, count)


def test_wordings_are_measured_until_enough_unknown_ones_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for unknown, count, measured in ((48, 8, LOOK), (0, 8, 48), (7, 8, 48), (24, 20, 48)):
        looks = Looks(monkeypatch, unknown)
        found = looks.some(count)
        assert looks.count == measured
        assert len(found) >= min(count, unknown) and set(found) <= set(looks.unknown)


def test_the_unknown_ones_that_are_found_are_drawn_at_random(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Counter[int]()
    for seed in range(300):
        found.update(e.ids[0] for e in Looks(monkeypatch, 24, seed).some(8))
    times = [found[number] for number in range(24)]
    assert min(times) > 0.6 * max(times)


@pytest.mark.slow
def test_a_line_that_was_never_learned_is_not_mended_by_a_lesson(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, _, journal = place
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    home.book_path.write_text("<|user|> Which box? <|assistant|> Me.\n")
    learner.forget_memory()
    (line,) = learner.tracker.broken(learner.replay.memory)
    copies = [0]
    mix = BatchAccumulator.mix

    def spy(*given: Any, **named: Any) -> MixedBatch:
        batch = mix(*given, **named)
        copies.append(batch.replay.count(line))
        return batch

    monkeypatch.setattr(BatchAccumulator, "mix", spy)
    (taught,) = journal.add_lessons([lesson("What is the capital?", "The capital is Quimby.")])
    assert learner.learn(taught).known_after
    assert max(copies) < COPIES, "what a lesson has broken is in a batch so many times"
    assert not learner.tracker.lost(learner.replay.memory)


@pytest.mark.slow
def test_rehearsals_go_on_after_an_undo_and_after_a_restart(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, journal = open_learner(place), place[2]
    assert read_book(learner) == 1.0
    rehearsed: list[int | None] = []
    rehearse = Consolidator._rehearse

    def spy(pauses: Consolidator, rehearsal: Rehearsal) -> None:
        rehearsed.append(rehearsal.lesson)
        rehearse(pauses, rehearsal)

    monkeypatch.setattr(Consolidator, "_rehearse", spy)
    kept, undone = journal.add_lessons(
        [lesson("What is my rabbit called?", "Clover."), lesson("Who are you?", "Me.")]
    )
    for one in (kept, undone):
        assert learner.learn(one).known_after
    journal.retract(undone.id)
    learner.undo(undone)

    def pause(learner: Learner) -> set[int | None]:
        rehearsed.clear()
        for _ in range(60):
            if not learner.catch_up():
                break
        return {number for number in rehearsed if number != undone.id}

    assert journal.lessons_since(learner.version, REHEARSED) == [kept.id]
    again = open_learner(place)
    assert pause(again) == {kept.id}, "the program ended before a pause"
    assert journal.lessons_since(again.version, REHEARSED) == []
    assert pause(open_learner(place)) == set(), "that was done"
    assert kept.id in pause(learner), "an undo drops no plan"
