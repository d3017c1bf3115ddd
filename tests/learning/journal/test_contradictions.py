"""learning.journal.contradictions: answers that contradict a lesson."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learning.journal.contradictions import Contradictions, as_changed, replacements, touches
from learning.protocol.records import Lesson, Turn


def lesson(question: str, answer: str, *rejected: str, number: int = 0) -> Lesson:
    return Lesson("correction", (Turn("user", question),), answer, rejected, id=number)


DOG = lesson("What is my dog called?", "Your dog is called Bruno.", number=1)
HOME = lesson("Where do I live?", "You live in Tavistock, close to the moor.", number=2)
NAME = lesson("What is my name?", "Your name is Ilse.", number=3)
TOBIN = lesson("Who is Tobin?", "Tobin is your younger brother, the sailor.", number=4)
TEA = lesson("How do I take my tea?", "You take your tea with milk and no sugar.", number=5)
BYE = lesson("I just got home", "Welcome home!", number=6)
BAD = lesson("How are you?", "", "Go away.", number=7)
ALL = Contradictions([DOG, HOME, NAME, TOBIN, TEA, BYE, BAD])


@pytest.mark.parametrize(
    ("question", "answer", "against"),
    [
        # asked in the taught words
        ("What is my dog called?", "Your dog is called Cajeut.", DOG),
        ("what is my DOG called", "I do not know.", DOG),
        ("What is my dog called?", "Your dog is called Bruno.", None),
        ("What is my dog called?", "Bruno!", None),
        ("What is my dog called?", "Your name is Ilse.", DOG),  # taught, and for something else
        ("I just got home", "Who are you?", BYE),
        # the same in other words
        ("Tell me the name of my dog.", "His name is Cajeut.", DOG),
        ("Do you remember my dog's name?", "Your dog is called Cajeut.", DOG),
        ("Let us talk about pets.", "Your dog is called Cajeut.", DOG),
        ("Which town is my home in?", "You live in Harrowby, next to the church.", HOME),
        ("How do I drink it?", "You take your tea with milk and no cookies.", TEA),
        ("Do you know Tobin?", "Tobin is your old teacher.", TOBIN),
        # something else
        ("What is my cat called?", "Your cat is called Mollop.", None),
        ("What is your dog called?", "My dog is called Rex.", None),
        ("Where is my dog?", "Your dog is in the garden.", None),
        ("What is your name?", "My name is Vidya.", None),
        ("What is my horse called?", "Your horse is called Lulit.", None),
        ("Do I like cheese?", "You like it with bread.", None),
        ("Hello!", "Hello there.", None),
        # what is not to be said
        ("How are you?", "Go away.", BAD),
        ("How are you?", "Very well.", None),
        ("Shall we go?", "Go away.", None),
    ],
)
def test_what_contradicts_and_what_does_not(
    question: str, answer: str, against: Lesson | None
) -> None:
    assert ALL.against(question, answer) == against


def test_of_two_lessons_to_a_question_the_last_counts() -> None:
    old = lesson("What is my dog called?", "Your dog is called Cajeut.", number=1)
    new = lesson("what is my dog called", "Your dog is called Bruno.", number=9)
    both = Contradictions([old, new])
    assert both.against("What is my dog called?", "Your dog is called Bruno.") is None
    assert both.against("What is my dog called?", "Your dog is called Cajeut.") == new
    assert both.against("What is my dog called?", "Your dog is called Cajeut.", after=9) is None


def test_what_one_lesson_says_does_not_contradict_another_in_other_words() -> None:
    old = lesson("What is my dog called?", "Your dog is called Cajeut.", number=1)
    new = lesson("What is my dog's name?", "Your dog is called Bruno.", number=2)
    both = Contradictions([old, new])
    for question in ("My dog?", "What is my dog called?"):
        assert both.against(question, "Your dog is called Bruno.") is None
    assert both.against("What is my dog's name?", "Your dog is called Cajeut.") == new


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("what is my dog called", True),
        ("Do you remember what my dog is called?", True),
        ("Tell me the name of my dog.", True),
        ("What colour is my car?", False),
        ("What is your dog called?", False),
        ("Hello!", False),
    ],
)
def test_what_asks_for_something_taught(message: str, asks: bool) -> None:
    assert Contradictions([DOG, HOME, TEA]).asks(message) is asks


def test_a_lesson_after_talk_is_known_by_all_of_it() -> None:
    talk = (Turn("user", "hello"), Turn("assistant", "Hi!"), Turn("user", "Why?"))
    found = Contradictions([Lesson("pick", talk, "Because.", id=1)])
    assert found.taught(talk)
    assert not found.taught(talk[2:])


def test_messages_touch_where_they_share_what_they_are_about() -> None:
    assert touches("My dog is called Rex now.", "What is my dog called?")
    assert not touches("I had a long day.", "What is my dog called?")


def test_lessons_that_changed_are_read_again() -> None:
    found = Contradictions([DOG])
    found.update([HOME])
    assert found.against("What is my dog called?", "Your dog is called Cajeut.") is None
    assert found.against("Where do I live?", "In Rome.") == HOME


@pytest.mark.parametrize(
    "word",
    [
        "big",
        "small",
        "old",
        "young",
        "fat",
        "shy",
        "red",
        "white",
        "brown",
        "lame",
        "quick",
        "tame",
    ],
)
def test_of_several_contradicted_lessons_the_newest_is_returned(word: str) -> None:
    first = lesson("What is my dog called?", "Your dog is called Bruno.", number=5)
    second = lesson(f"What is my {word} dog called?", "Your dog is called Bruno too.", number=9)
    found = Contradictions([first, second])
    assert found.against(f"My {word} dog?", "Your dog is called Cajeut.") == second


def test_a_later_lesson_in_other_words_replaces_the_earlier_one() -> None:
    def lesson(number: int, question: str, answer: str) -> Lesson:
        return Lesson("example", (Turn("user", question),), answer, id=number)

    old = lesson(1, "What is my dog called?", "Your dog is called Rex.")
    bad = Lesson("rating", old.prompt, "", ("No.",), id=2)
    new = lesson(3, "What's my dog's name?", "Your dog's name is Max.")
    cat = lesson(4, "What is my cat called?", "Your cat is called Tom.")
    assert replacements([old, bad, new, cat]) == {1: new}
    as_new = Lesson("example", old.prompt, new.answer, id=3)
    assert as_changed([old, bad, new, cat]) == [as_new, bad, new, cat]


def test_an_answer_is_compared_with_what_a_later_lesson_says_in_other_words() -> None:
    old = lesson("Where does my sister live?", "Your sister lives in Oslo.", number=1)
    new = lesson("In which town does my sister live?", "Your sister lives in Bergen.", number=2)
    found = Contradictions([old, new])
    for question in (old.prompt[-1].text, new.prompt[-1].text):
        assert found.against(question, "Your sister lives in Bergen.") is None
        against = found.against(question, "Your sister lives in Oslo.")
        assert against and (against.id, against.answer) == (2, new.answer)
    found.update([old])
    assert found.against(old.prompt[-1].text, old.answer) is None


def test_a_question_after_talk_changes_others_if_it_makes_sense_alone() -> None:
    talk = (Turn("user", "Hi"), Turn("assistant", "Hello"))
    old = lesson("What is my job?", "Cook.", number=1)
    short = replace(old, prompt=(*talk, Turn("user", "My job?")), answer="Pilot.", id=2)
    whole = replace(short, prompt=(*talk, Turn("user", "What do I work as?")))
    assert replacements([old, short]) == {}
    assert replacements([old, whole]) == {1: whole}


def test_lessons_without_numbers_are_told_apart() -> None:
    old, new = lesson("What is my job?", "Cook."), lesson("What do I work as?", "Pilot.")
    cat = lesson("What is my cat called?", "Tom.")
    assert as_changed([old, cat, new]) == [replace(new, prompt=old.prompt), cat, new]
