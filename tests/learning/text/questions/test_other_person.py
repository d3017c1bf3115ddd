"""A question with first and second person swapped."""

from __future__ import annotations

from learning.text.normalise import fold
from learning.text.questions.other_person import other_person


def test_first_and_second_person_are_swapped() -> None:
    assert other_person("Where do I live?") == fold("Where do you live?")
    assert other_person("Who are you?") == fold("Who am I?")
    assert other_person("What's my name?") == fold("What's your name?")
