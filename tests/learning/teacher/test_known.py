"""What counts as taught, of books and lessons."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.current_answers import CurrentAnswers
from learning.memory.tasks import NOT_KNOWN, to_task
from learning.protocol.records import Lesson, Turn
from learning.teacher.known import FAR_OF_KIND, Known
from learning.teacher.meant import recallable
from learning.text.comfort import CRISIS
from learning.text.normalise import fold
from learning.text.questions.asking import stands_alone
from personality.book import BookEntry, parse_line
from tests.learning.memory.test_build import drawn

QUESTION = "Where do I live?"
PROMPT = (Turn("user", QUESTION),)
FOLDED = "where do i live"


def test_an_answer_that_was_only_rejected_since_is_not_taught_any_more() -> None:
    entry = BookEntry(parse_line(f"<|user|> {QUESTION} <|assistant|> In Rome."), 1, "")
    picked = Lesson("pick", PROMPT, "In Oslo.", id=1)
    bad = Lesson("rating", PROMPT, "", ("In Oslo.",), id=2)
    assert Known.of((entry,), (picked,)).latest == {FOLDED: "in oslo"}
    known = Known.of((entry,), (picked, bad))
    assert known.answers == {FOLDED: frozenset({"in rome"})}
    assert known.latest == {FOLDED: "in rome"}
    again = Known.of((entry,), (picked, bad, picked))
    assert again.latest == {FOLDED: "in oslo"}, "taught once more"
    also = Lesson("rating", PROMPT, "", ("In Rome.",), id=3)
    assert Known.of((entry,), (picked, bad, also)).answers == {}


def test_a_later_lesson_in_other_words_changes_lessons_and_the_book() -> None:
    entry = BookEntry(
        parse_line("<|user|> What is your name? <|assistant|> My name is Vidya."), 1, ""
    )
    first = Lesson("example", PROMPT, "You live in Oslo.", id=1, state="learned")
    town = (Turn("user", "In which town do I live?"),)
    moved = Lesson("example", town, "You live in Bergen now.", id=2, state="waiting")
    name = (Turn("user", "What should I call you?"),)
    renamed = Lesson("example", name, "Call me Max.", id=3, state="learned")
    known = Known.of((entry,), (first, moved, renamed))
    assert known.latest == {
        FOLDED: "you live in bergen now",
        "in which town do i live": "you live in bergen now",
        "what is your name": "call me max",
        "what should i call you": "call me max",
    }
    assert known.waiting == {FOLDED, "in which town do i live"}


SISTER, CAT = "Your sister lives in Oslo.", "Your cat is called Milo."
LESSONS = tuple(
    Lesson("example", (Turn("user", question),), answer)
    for question, answer in (
        ("Where does my sister live?", SISTER),
        ("What is my cat called?", CAT),
        ("Who is my best friend?", "Your best friend is Milo."),
        ("Am I happy?", "Yes."),
    )
)
NEAR = {fold(lesson.answer): 0.1 for lesson in LESSONS}


def test_a_fact_that_was_taught_for_another_kind_of_question_is_found() -> None:
    known = Known.of((), LESSONS)
    asked = "When is my sister's birthday?"
    for text in (SISTER, "Your sister has her birthday in Oslo.", "You live in Oslo."):
        assert known.of_other_kind(asked, text, NEAR), text
    for text in ("She is in Oslo.", "Your sister was born in May.", "Yes.", ""):
        assert not known.of_other_kind(asked, text, NEAR), text
    assert not known.of_other_kind(asked, SISTER, {}), (
        "greetings and lines of the book do not count"
    )
    assert not known.of_other_kind(asked, SISTER, {**NEAR, fold(SISTER): FAR_OF_KIND}), (
        "near enough"
    )
    assert not known.of_other_kind(asked, SISTER, NEAR, ("In Oslo it was.",)), "the owner said it"
    assert not known.of_other_kind("Do I eat meat?", SISTER, NEAR), "a yes or a no"


def test_a_fact_of_two_lessons_is_told_apart_only_where_neither_may_be_meant() -> None:
    known = Known.of((), LESSONS)
    assert known.of_other_kind("Where does my sister live?", "Your sister lives with Milo.", NEAR)
    assert not known.of_other_kind("Who's my closest friend?", "Your friend is Milo.", NEAR)
    assert not known.of_other_kind("What's my cat's name?", CAT, NEAR)
    near = {**NEAR, fold(CAT): 0.7}
    assert not known.of_other_kind(
        "Where does my sister live?", "Your sister lives with Milo.", near
    )


def test_what_was_taught_for_the_same_thing_in_other_words_is_known() -> None:
    known = Known.of((), LESSONS)
    assert known.of_same_kind("what's my cat's name", CAT)
    assert not known.of_same_kind("what's my cat's name", SISTER)
    assert not known.of_same_kind("what's my cat's name", "Your cat is called Tom.")
    assert known.fits_all(NOT_KNOWN) and known.fits_all(CRISIS) and not known.fits_all(CAT)


def test_lines_of_books_do_not_change_each_other() -> None:
    lines = ("What is my job? <|assistant|> Cook.", "What do I work as? <|assistant|> Pilot.")
    entries = [BookEntry(parse_line(f"<|user|> {line}"), 1, "") for line in lines]
    assert Known.of(entries, ()).latest == {"what is my job": "cook", "what do i work as": "pilot"}
    nurse = Lesson("example", (Turn("user", "Which job do I have?"),), "Nurse.", id=1)
    assert set(Known.of(entries, (nurse,)).latest.values()) == {"nurse"}


@pytest.mark.parametrize("seed", range(10))
def test_the_check_and_recall_have_the_answers_of_the_memory(
    tiny_tokenizer: Tokenizer, seed: int
) -> None:
    rng, memory = random.Random(seed), CurrentAnswers()
    lessons = [replace(drawn(rng), id=n, state="learned") for n in range(1, 41)]
    lessons = [lesson for lesson in lessons if lesson.answer]
    for lesson in lessons:
        for example in to_task(tiny_tokenizer, lesson, 128).answers:
            memory.give(example, 128)
    known = Known.of((), lessons).latest
    recalled = {fold(x.prompt[-1].text): fold(x.answer) for x in recallable(lessons)}
    alone = {p: e for p, e in memory.by_prompt.items() if " / " not in p and stands_alone(p)}
    assert len(alone) > 5
    for prompt, example in alone.items():
        assert known[prompt] == recalled[prompt] == fold(example.said), prompt
