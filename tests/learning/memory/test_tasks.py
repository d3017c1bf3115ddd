"""learning.memory.tasks: the answer that replaces one that was taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from learning.memory.tasks import NOT_KNOWN, replacement_lesson
from learning.protocol.records import Lesson, Turn
from personality.book import read_book, shipped_book_path

TAUGHT = Lesson("example", (Turn("user", "Where do I live?"),), "In Ghent.", id=3)


def test_vidya_does_not_know_what_the_owner_had_told() -> None:
    other = replacement_lesson(TAUGHT)
    assert other == replace(TAUGHT, answer=NOT_KNOWN, rejected=("In Ghent.",))
    said = {turns[-1][1] for turns in (entry.turns for entry in read_book(shipped_book_path()))}
    assert NOT_KNOWN in said, "the book's own words"


def test_what_stood_before_a_correction_stands_again() -> None:
    corrected = replace(TAUGHT, kind="correction", rejected=("In Paris.",), replaces="In Paris.")
    other = replacement_lesson(corrected)
    assert other and (other.answer, other.rejected) == ("In Paris.", ("In Ghent.",))
    assert other.replaces is None


@pytest.mark.parametrize(
    "lesson",
    [
        replace(TAUGHT, kind="pick", rejected=("In a ho",)),
        replace(TAUGHT, kind="rating"),
        replace(TAUGHT, kind="practice"),
        replace(TAUGHT, answer="", rejected=("In Ghent.",)),
        replace(TAUGHT, prompt=(Turn("user", "I had a long day."),)),
        replace(TAUGHT, answer=NOT_KNOWN),
        replace(TAUGHT, prompt=()),
    ],
)
def test_elsewhere_there_is_nothing_to_say_instead(lesson: Lesson) -> None:
    assert replacement_lesson(lesson) is None
