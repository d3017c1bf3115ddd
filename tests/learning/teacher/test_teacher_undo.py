"""A lesson that was taken back is removed from the weights once, and reported once."""

from __future__ import annotations

import queue

from learning.protocol.events import Event, UndoDone
from learning.protocol.requests import Learn, Undo
from learning.teacher.teacher import Teacher
from tests.learning.lessons.test_learner import Place, lesson, place  # noqa: F401


def test_what_is_taken_out_with_what_waits_is_not_told_again_when_its_turn_comes(
    place: Place,  # noqa: F811
) -> None:
    home, folder, journal = place
    (taught,) = journal.add_lessons([lesson("Who?", "You.")])
    journal.retract(taught.id)
    events: queue.Queue[Event] = queue.Queue()
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    try:
        for request in (Learn(), Undo(taught.id), Undo(None)):
            teacher.send(request)
        told: list[UndoDone] = []
        while not told or told[-1].lesson is not None:
            event = events.get(timeout=60)
            if isinstance(event, UndoDone):
                told.append(event)
    finally:
        teacher.close()
    assert [done.what for done in told] == [
        f"took back lesson {taught.id}",
        "there is nothing to undo",
    ]
