"""Sentences about lessons that blame a part of an answer."""

from __future__ import annotations

from dataclasses import replace

from learning.journal.judgements import Judged
from learning.protocol.records import Lesson, Rating, Turn
from vidya_tui.state.lessons import named, short, understood
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
