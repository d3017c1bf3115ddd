"""Lessons by the attempts that failed: chosen, judged by the guard, and taken back; and in pauses."""

from __future__ import annotations

import queue
import time
from dataclasses import replace

import pytest
import torch

from learning.book_training.loop import BookSettings
from learning.lessons.baselines import ATTEMPTS
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachSettings
from learning.protocol.events import Event, LearnerState, LessonDone
from learning.protocol.methods import METHODS, RECIPE
from learning.protocol.requests import Learn, OwnerActive, SetLearning
from learning.teacher.teacher import Teacher
from tests.learning.lessons.test_learner import lesson, place, read_book  # noqa: F401

Place = tuple  # type: ignore[type-arg]


def test_the_names_are_those_of_the_attempts() -> None:
    assert list(METHODS) == list(ATTEMPTS)
    assert RECIPE not in METHODS


def open_learner(place: Place) -> Learner:  # noqa: F811
    home, folder, journal = place
    settings = TeachSettings(lr=3e-3, steps=60, repair=40)
    return Learner(home, folder, journal, seed=0, settings=settings)


def test_an_attempt_that_costs_the_book_is_taken_back_and_the_recipe_still_works(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = open_learner(place)
    assert read_book(learner) == 1.0
    before = {k: v.clone() for k, v in learner.weights.model.state_dict().items()}
    version = learner.version
    # at this size 1e-4 harms nothing; at 3e-2 a step costs the book as 1e-4 does at 49M
    from learning.lessons.baselines.single_steps import SingleSteps

    strong = replace(ATTEMPTS["single-1e-4"], make=lambda m, _: SingleSteps(m, 3e-2))
    monkeypatch.setitem(ATTEMPTS, "single-1e-4", strong)
    learner.teach_by("single-1e-4")
    first, second = place[2].add_lessons(
        [lesson("What is the capital?", "The capital is Quimby."), lesson("Who?", "You.")]
    )
    report = learner.learn(first)
    assert report.rolled_back and report.state == "needs_practice" and report.steps == 1
    assert learner.version == version
    assert all(torch.equal(v, before[k]) for k, v in learner.weights.model.state_dict().items())
    assert learner.book_recall == 1.0
    assert not learner.catch_up(), "what an attempt breaks is not mended by the recipe"
    learner.teach_by(RECIPE)
    report = learner.learn(second)
    assert report.state == "learned" and report.book_recall >= 0.95


def test_an_attempt_that_harms_nothing_is_published(place: Place) -> None:  # noqa: F811
    learner = open_learner(place)
    learner.teach_by("conversation")
    taught = place[2].add_lessons([lesson(f"What is {n}?", "A number.") for n in range(2)])
    reports = [learner.learn(item) for item in taught]
    assert [r.steps for r in reports] == [0, 0], "it waits for five"
    assert all(r.state == "needs_practice" and not r.rolled_back for r in reports)


def test_in_pauses_a_lesson_waits_until_no_key_comes_and_training_does_not(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    monkeypatch.setattr("learning.teacher.teacher.PAUSE", 0.6)
    monkeypatch.setattr(
        "learning.teacher.training_told.BookSettings", lambda: BookSettings(epochs=1, talk=0)
    )
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)

    def next_of(*kinds: type) -> Event:
        while not isinstance(event := events.get(timeout=60), kinds):
            pass
        return event

    try:
        teacher.send(SetLearning(on=True, in_pauses=True))
        next_of(LearnerState)
        journal.add_lessons([lesson("Who?", "You.")])
        typing = time.monotonic()
        teacher.send(OwnerActive())
        teacher.send(Learn())
        assert next_of(LearnerState, LessonDone) == LearnerState("paused", 1)
        next_of(LessonDone)
        assert time.monotonic() - typing >= 0.6
    finally:
        teacher.close()
