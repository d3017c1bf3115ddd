"""Which lessons a message may mean, by its words."""

from __future__ import annotations

import pytest

from learning.protocol.records import Lesson, Turn
from learning.teacher.meant import may_be_meant, recallable, said_otherwise, tells_more


def lesson(question: str, answer: str, number: int = 1) -> Lesson:
    return Lesson("example", (Turn("user", question),), answer, id=number, state="learned")


HOME = lesson("Where does my sister live?", "Your sister lives in Tromso.")
CAR = lesson("What colour is our car?", "Your car is turquoise.")


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("where's my sister living", True),
        ("the car, what colour is it?", False),
        ("How old is my sister?", False),
        ("Where does Tom's sister live?", False),
        ("My sister lives in Oslo now.", False),
        ("my sister lives in Tromso", True),
    ],
)
def test_the_words_of_a_message_speak_for_or_against_a_lesson(message: str, meant: bool) -> None:
    assert may_be_meant(HOME, message) == meant


def test_a_message_may_leave_out_whose_thing_it_is() -> None:
    assert may_be_meant(CAR, "the car, what colour is it?")
    assert not may_be_meant(CAR, "What colour is the neighbours' car?")


def test_what_the_owner_has_said_since_counts_against_a_lesson() -> None:
    for said in ("My sister moved to Oslo last week.", "My sister has moved to Rome."):
        assert tells_more(HOME, said) and said_otherwise(HOME, ["Hello!", said]), said
    assert not said_otherwise(HOME, ["My sister lives in Tromso.", "Where is my sister?"])
    assert not said_otherwise(HOME, ["My car is red."]), "it is about something else"


def test_a_lesson_on_a_statement_takes_the_place_of_an_earlier_one() -> None:
    moved = lesson("My sister lives in Oslo now.", "Your sister lives in Oslo now.", 2)
    assert recallable([HOME, CAR, moved]) == [CAR, moved]
    assert recallable([moved, CAR, HOME]) == [moved, CAR, HOME], "the question was taught later"
    same = lesson("My sister lives in Tromso, I said.", "Your sister lives in Tromso.", 2)
    assert HOME in recallable([HOME, same])
    other = lesson("My sister is ill.", "I am sorry to hear that.", 2)
    assert HOME in recallable([HOME, other]), "it says nothing of where she lives"


def test_which_lessons_can_be_recalled() -> None:
    dog = lesson("What is my dog called?", "Your dog is called Bruno.")
    later = lesson("what is my DOG called", "Your dog is called Odo now.")
    bad = Lesson("rating", HOME.prompt, "", ("Your sister lives in Rome.",))
    after = Lesson(
        "example", (Turn("user", "hi"), Turn("assistant", "Hello."), Turn("user", "why?")), "So."
    )
    assert recallable([dog, HOME, later, bad, after]) == [later]
