"""learning.text.variations: other wordings of a question."""

from __future__ import annotations

import random

import pytest

from learning.text.variations import variations

QUESTIONS = [
    "What is my rabbit called?",
    "where was i born",
    "How many legs does an ant have?",
    "Cats or dogs?",
    "Hello",
    "I burnt the toast!",
    "Grüße 🙂?",
    "whats my dads name",
    "What?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_all_differ_from_the_question_and_from_each_other(question: str) -> None:
    for seed in range(20):
        made = variations(question, 8, random.Random(seed))
        assert len(made) >= 3
        assert len(set(made)) == len(made)
        assert question not in made
        assert all(text.strip() == text and text for text in made)


def test_at_most_as_many_as_asked_for_and_the_same_for_the_same_seed() -> None:
    one, other = (variations("Where is the torch?", 5, random.Random(4)) for _ in range(2))
    assert one == other
    assert len(one) == 5


def test_known_frames() -> None:
    made = {
        t.lower().rstrip("?!.")
        for t in variations("What is my rabbit called?", 200, random.Random(0))
    }
    assert "can you tell me what is my rabbit called" in made
    assert "what about my rabbit called" in made
    assert "what is my rabbit called, please" in made
    assert "about my rabbit called" in made


@pytest.mark.parametrize(("mine", "yours"), [("my", "your"), ("your", "my")])
def test_whose_it_is_never_changes(mine: str, yours: str) -> None:
    for text in variations(f"What is {mine} favourite colour?", 100, random.Random(1)):
        words = text.lower().replace("?", " ").replace("'", " ").split()
        person = {"my": "i", "your": "you"}
        assert yours not in words
        assert mine in words or person[mine] in words


def test_nothing_comes_of_nothing() -> None:
    assert all(text.strip() for text in variations("", 5, random.Random(0)))
    assert all(text.strip() for text in variations("?!", 5, random.Random(0)))
