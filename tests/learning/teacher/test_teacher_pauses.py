"""learning.teacher: lessons that wait for a pause of the owner."""

from __future__ import annotations

import queue
import time

import pytest

from learning.book_training.loop import BookSettings
from learning.protocol.events import Event, LearnerState, LessonDone
from learning.protocol.requests import Learn, OwnerActive, SetLearning
from learning.teacher.teacher import Teacher
from tests.learning.lessons.test_learner import lesson, place, read_book  # noqa: F401

Place = tuple  # type: ignore[type-arg]


@pytest.mark.slow
def test_in_pauses_a_lesson_waits_until_no_key_comes_and_training_does_not(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    monkeypatch.setattr("learning.teacher.jobs.PAUSE", 0.6)
    monkeypatch.setattr(
        "learning.teacher.training_events.BookSettings", lambda: BookSettings(epochs=1, talk=0)
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


@pytest.mark.slow
def test_who_has_nothing_to_learn_returns_freed_memory(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    returned: queue.Queue[bool] = queue.Queue()
    monkeypatch.setattr(
        "learning.teacher.jobs.return_freed_memory", lambda: returned.put(bool(journal.waiting()))
    )
    journal.add_lessons([lesson("Who?", "You.")])
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=lambda _: None)
    try:
        teacher.send(Learn())
        assert returned.get(timeout=60) is False, "after the lesson"
    finally:
        teacher.close()


@pytest.mark.slow
def test_a_large_model_that_has_nothing_to_learn_keeps_no_master_weights(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, folder, journal = place
    monkeypatch.setattr("learning.lessons.learner.LARGE", 0)
    returned: queue.Queue[None] = queue.Queue()
    monkeypatch.setattr("learning.teacher.jobs.return_freed_memory", lambda: returned.put(None))
    events = list[Event]()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.append)
    masters = teacher._learner.weights.model
    try:
        for question in ("Who?", "Where?"):
            journal.add_lessons([lesson(question, "You.")])
            teacher.send(Learn())
            returned.get(timeout=60)
            assert sum(p.numel() for p in masters.parameters()) == 0, "it rests"
    finally:
        teacher.close()
    done = [event for event in events if isinstance(event, LessonDone)]
    assert [event.known_after for event in done] == [True, True]
