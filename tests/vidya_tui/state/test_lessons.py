"""Sentences about lessons that blame a part of an answer, and about those that were left standing."""

from __future__ import annotations

from dataclasses import replace

from learning.journal.judgements import Judged
from learning.journal.lesson_list import Taught
from learning.journal.weak import Share
from learning.protocol.records import Lesson, Rating, Turn, Understanding
from vidya_tui.state.learner import understanding_words
from vidya_tui.state.lessons import (
    led_to,
    long_state,
    measured,
    named,
    short,
    state,
    understood,
)
from vidya_tui.state.notes import note_of

ANSWER = "Cats purr. They are fish."
BAD = Lesson("rating", (Turn("user", "Cats?"),), "", (ANSWER,))
PART = replace(BAD, blame=(11, 25))


def test_the_blamed_words_are_named() -> None:
    assert understood(PART) == (
        "will not say \u201cThey are fish.\u201d after \u201cCats purr.\u201d"
    )
    assert short(PART) == "Cats? \u2192 not \u201cThey are fish.\u201d"
    assert named(PART) == "\u201cCats?\u201d \u2192 not \u201cThey are fish.\u201d"
    first = replace(BAD, blame=(0, 10))
    assert understood(first) == "will not say \u201cCats purr.\u201d at the beginning"


def test_a_whole_answer_is_named_as_before() -> None:
    assert understood(BAD) == f"will not answer \u201c{ANSWER}\u201d"
    assert short(BAD) == f"Cats? \u2192 not \u201c{ANSWER}\u201d"


def test_the_note_says_which_words_were_blamed_and_why() -> None:
    judged = Judged(1, Rating(1, "bad", "not true", (11, 25)), ANSWER, 0.0, True)
    note = note_of(ANSWER, [judged], lambda: [1])
    assert note.words() == "rated bad for \u201cThey are fish.\u201d: not true"


LEFT = Taught(
    Lesson("continuation", (Turn("user", "Cats?"),), ANSWER, weight=0.1), 1, 1, "waiting", 1, None
)


def test_what_reached_an_answer_that_was_left_standing_is_said() -> None:
    assert led_to(LEFT) == ""
    one = replace(LEFT, shares=(Share("good", 1, 0.891, 2.0),))
    assert led_to(one) == "counts 0.19 of a picked one: rated good 1 turn later (+0.89)"
    assert (state(one), long_state(one)) == (
        *("waiting", "learned along with your next lesson, while /settings says so"),
    )
    bad = Share("bad", 2, -0.793881, 3.0), Share("left", 3, -0.353674, 4.0)
    gone = replace(LEFT, shares=bad)
    assert led_to(gone) == (
        "counts 0.00 of a picked one: rated bad 2 turns later (-0.79),"
        " left for another conversation 3 turns later (-0.35)"
    )
    assert (state(gone), long_state(gone)) == (
        *("held back", "not learned, as it led to nothing good"),
    )
    assert state(replace(gone, state="learned")) == "learned"
    assert state(replace(gone, replaced_by=7)) == "replaced"


def test_a_practice_that_the_weights_lost_is_no_lesson_to_practise() -> None:
    practised = Lesson("practice", (Turn("user", "chain_sum"),), "", state="needs_practice")
    lost = Taught(practised, 1, 1, "needs_practice", 1, None)
    assert (state(lost), long_state(lost)) == (
        *(
            "lost",
            "lost, because the weights went back to earlier ones; practise again to repeat it",
        ),
    )
    assert state(replace(lost, state="taken_back")) == "taken back"
    assert named(practised) == short(practised) == "practice of chain_sum"
    distilled = replace(practised, prompt=(Turn("user", "distillation from smollm2-135m"),))
    assert named(distilled) == "distillation from smollm2-135m"


def test_of_many_turns_the_nearest_are_named() -> None:
    many = tuple(Share("good", turns, 0.891**turns, 2.0) for turns in range(1, 6))
    said = led_to(replace(LEFT, shares=many))
    assert said.startswith("counts 0.20 of a picked one: rated good 1 turn later (+0.89), ")
    assert said.endswith("rated good 3 turns later (+0.71), 2 more turns (+1.19)")


def test_how_well_a_lesson_was_understood_is_said_with_the_time() -> None:
    taught = Taught(BAD, 1, None, "learned", 1, None)
    assert measured(taught, 100.0) == ""
    well = Understanding(4, 5, 0, 3)
    assert (
        understanding_words(well, none_too=True)
        == "known in 4 of 5 ways, given to none of 3 other questions"
    )
    assert understanding_words(well) == "known in 4 of 5 ways"
    assert understanding_words(Understanding(4, 5), none_too=True) == "known in 4 of 5 ways"
    assert (
        understanding_words(Understanding(0, 0, 1, 1), none_too=True)
        == "given to 1 of 1 other question"
    )
    said = measured(replace(taught, understanding=well, measured=90.0), 100.0)
    assert said.startswith("known in 4 of 5 ways, given to none of 3 other questions (today ")
