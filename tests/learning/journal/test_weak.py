"""learning.journal.weak: a weak lesson that contradicts a lesson is not learned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.journal.weak import weak_lessons
from learning.memory.tasks import rider_example, waiting_riders
from learning.protocol.records import Lesson
from tests.learning.lessons.test_learner import Place, lesson, open_learner, place, read_book  # noqa: F401
from tests.talk import said

ASKED = said("What is my dog called?")
TRUE, FALSE = "Your dog is called Bruno.", "Your dog is called Cajeut."


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path / "journal.sqlite3")
    yield journal
    journal.close()


def left(answer: str, question: str = "What is my dog called?") -> Lesson:
    return Lesson("continuation", said(question), answer, weight=0.1)


def test_one_that_contradicts_a_lesson_does_not_teach(journal: Journal) -> None:
    own = Lesson("owner_words", (), FALSE)
    assert weak_lessons([left(FALSE), own], journal) == [left(FALSE), own]
    journal.add_lessons([Lesson("correction", ASKED, TRUE)])
    assert weak_lessons([left(FALSE), own], journal) == [own]
    assert weak_lessons([left(FALSE, "And my dog?")], journal) == []
    assert weak_lessons([left(TRUE)], journal) == [left(TRUE)]


def test_what_was_taken_back_or_rated_bad_does_not_come_back_by_it(journal: Journal) -> None:
    (taught,) = journal.add_lessons([Lesson("pick", ASKED, FALSE)])
    journal.retract(taught.id)
    assert weak_lessons([left(FALSE)], journal) == []
    journal.set_lesson_state(taught.id, "undone")
    assert weak_lessons([left(FALSE), left(FALSE, "My dog?")], journal) == []
    assert weak_lessons([left(FALSE, "Really?")], journal) == [left(FALSE, "Really?")]
    journal.add_lessons([Lesson("rating", said("Hm?"), "", ("Go away.",))])
    assert weak_lessons([left("Go away.", "Hm?")], journal) == []


def test_after_a_correction_an_older_one_rides_no_more(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    (weak,) = journal.add_lessons([left(FALSE)])
    assert list(waiting_riders(tiny_tokenizer, journal, 128)) == [weak.id]
    journal.add_lessons([Lesson("correction", ASKED, TRUE)])
    assert waiting_riders(tiny_tokenizer, journal, 128) == {}


def test_only_the_kinds_ride_that_the_owner_wants(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    weak, own = journal.add_lessons([left("Hm."), Lesson("owner_words", (), "hello")])
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ())) == []
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ("owner_words",))) == [own.id]
    assert list(waiting_riders(tiny_tokenizer, journal, 128, ("continuation",))) == [weak.id]


def test_what_the_memory_answers_otherwise_does_not_ride(
    journal: Journal, tiny_tokenizer: Tokenizer
) -> None:
    (weak,) = journal.add_lessons([left("I am Bob.", "Who are you?")])
    kinds = ("continuation",)
    same = rider_example(tiny_tokenizer, weak, 128)
    other = rider_example(tiny_tokenizer, left("I am Vidya.", "Who are you?"), 128)
    assert same and other
    assert list(waiting_riders(tiny_tokenizer, journal, 128, kinds, [same])) == [weak.id]
    assert waiting_riders(tiny_tokenizer, journal, 128, kinds, [other]) == {}


@pytest.mark.slow
def test_nothing_weak_is_learned_unless_the_owner_wants_that(
    place: Place,  # noqa: F811
) -> None:
    journal, learner = place[2], open_learner(place)
    read_book(learner)
    weak, first = journal.add_lessons(
        [left("Hm."), lesson("What is the capital?", "It is Quimby.")]
    )
    assert learner.learn(first).steps
    assert journal.lesson(weak.id).state == "waiting"
    learner.weak = ("continuation",)
    (second,) = journal.add_lessons([lesson("What is 12 and 30?", "They make 42.")])
    assert learner.learn(second).steps
    assert journal.lesson(weak.id).state == "learned"


@pytest.mark.slow
def test_one_that_was_learned_is_taken_back_like_any_lesson(
    place: Place,  # noqa: F811
) -> None:
    journal, learner = place[2], open_learner(place)
    read_book(learner)
    learner.weak = ("continuation",)
    weak, first = journal.add_lessons(
        [left("Hm."), lesson("What is the capital?", "It is Quimby.")]
    )
    assert learner.learn(first).steps and journal.lesson(weak.id).state == "learned"
    journal.retract(weak.id)
    assert [other.id for other in journal.to_undo()] == [weak.id]
    done, lost = learner.undo(journal.lesson(weak.id))
    assert done.what.startswith(f"took back lesson {weak.id}")
    assert [other.id for other in lost] == [first.id]
    assert weak.id not in journal.lessons_in(learner.version)
    assert learner.learn(journal.lesson(first.id)).known_after
    assert weak.id not in journal.lessons_in(learner.version)
    assert journal.lesson(weak.id).state == "undone"
