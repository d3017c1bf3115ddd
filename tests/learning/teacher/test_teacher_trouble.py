"""An unexpected error in one lesson is reported, and the other lessons are still learned."""

from __future__ import annotations

import pytest

from engine.errors import CheckpointError, JournalError
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.protocol.events import Event, Failed, LessonDone
from learning.protocol.records import Lesson, LessonReport
from learning.protocol.requests import Learn
from learning.teacher import jobs
from tests.learning.conftest import Place
from tests.learning.lessons.test_learner import lesson, place  # noqa: F401
from tests.learning.lessons.test_undo import hear


@pytest.mark.slow
def test_the_lessons_behind_one_that_fails_are_learned(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = place[2]
    bad, good = journal.add_lessons([lesson("a?", "A."), lesson("b?", "B.")])
    learn = Learner.learn

    def learned(learner: Learner, item: Lesson) -> LessonReport:
        if item.id == bad.id:
            raise ZeroDivisionError("as nobody foresaw")
        return learn(learner, item)

    monkeypatch.setattr(Learner, "learn", learned)
    said = hear(place, monkeypatch, LessonDone, Learn())
    assert [event.where for event in said if isinstance(event, Failed)] == ["learn"]
    assert isinstance(said[-1], LessonDone) and said[-1].lesson == good.id
    assert journal.lesson(bad.id).state == "needs_practice" and journal.waiting() == []


@pytest.mark.slow
def test_an_undo_that_cannot_be_done_keeps_nothing_from_being_learned(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = place[2]
    (gone,) = journal.add_lessons([lesson("a?", "A.")])
    journal.retract(gone.id)
    (good,) = journal.add_lessons([lesson("b?", "B.")])

    def unreadable(learner: Learner, item: Lesson) -> None:
        raise CheckpointError("00000001.safetensors: is damaged", "remove it")

    monkeypatch.setattr(Learner, "undo", unreadable)
    said = hear(place, monkeypatch, LessonDone, Learn())
    failed = [(event.where, event.what) for event in said if isinstance(event, Failed)]
    assert failed == [("undo", "00000001.safetensors: is damaged")]
    assert isinstance(said[-1], LessonDone) and said[-1].lesson == good.id


@pytest.mark.slow
def test_a_journal_that_cannot_be_read_for_a_moment_ends_no_learning(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (good,) = place[2].add_lessons([lesson("b?", "B.")])
    following, count, failing = Journal.next_waiting, Journal.waiting_count, ["next", "count"]

    def unreadable(what: str) -> None:
        if what in failing:
            failing.remove(what)
            raise JournalError("journal.sqlite3 cannot be read: disk I/O error", "free the disk")

    def next_waiting(journal: Journal) -> Lesson | None:
        unreadable("next")
        return following(journal)

    def waiting_count(journal: Journal) -> int:
        unreadable("count")
        return count(journal)

    monkeypatch.setattr(Journal, "next_waiting", next_waiting)
    monkeypatch.setattr(Journal, "waiting_count", waiting_count)
    said = hear(place, monkeypatch, LessonDone, Learn(), Learn())
    assert [event.where for event in said if isinstance(event, Failed)] == ["learn"]
    assert isinstance(said[-1], LessonDone) and said[-1].lesson == good.id and not failing


@pytest.mark.slow
def test_a_lesson_that_a_bad_line_of_the_book_keeps_waiting_is_learned_once_the_line_is_mended(
    place: Place,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, _, journal = place
    (waits,) = journal.add_lessons([lesson("a?", "A.")])
    home.book_path.write_text("<|user|> What is my cat called?\n")
    monkeypatch.setattr(jobs, "LOOK", 0.01)
    failed = list[Failed]()

    def mend(event: Event) -> None:
        if isinstance(event, Failed):
            failed.append(event)
            last = len(failed) == 2
            home.book_path.write_text("# mended\n" if last else "another bad line\n")

    said = hear(place, monkeypatch, LessonDone, Learn(), meanwhile=mend)
    assert [(event.where, event.next_step) for event in failed] == [
        (
            "learn",
            "mend the book: no lesson is learned before that, and those that wait are learned then",
        )
    ] * 2
    assert [event.what.split(": ")[1] for event in failed] == [
        "no <|assistant|> after the last question; add <|assistant|> and the answer, or remove the line",
        "no <|user|> at the start of the line; begin with <|user|> and the question, or with # to make"
        " it a comment",
    ]
    assert isinstance(said[-1], LessonDone) and said[-1].lesson == waits.id
