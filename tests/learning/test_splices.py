"""learning.splices: a question's own words in the frames of other questions."""

from __future__ import annotations

import random

import pytest

from learning.splices import carrying, splices

FRAMES = ["how old are you", "where do you live", "what is the capital of france", "name a colour"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is my rabbit called?", ["my", "rabbit", "called"]),
        ("whats my dads name", ["my", "dads", "name"]),
        ("What do I like?", ["I", "like"]),
        ("Who are you?", ["you"]),
        ("Is that so?", []),
        ("", []),
        ("?! ...", []),
    ],
)
def test_the_words_that_carry_the_meaning(question: str, words: list[str]) -> None:
    assert carrying(question) == words


def test_they_stand_together_between_the_small_words_of_others() -> None:
    made = splices("What is my rabbit called?", FRAMES, 40, random.Random(0))
    assert len(made) >= 8 and len({text.lower().rstrip("?") for text in made}) == len(made)
    for text in made:
        words = text.lower().rstrip("?").split()
        place = words.index("my")
        assert words[place : place + 3] == ["my", "rabbit", "called"]
        others = words[:place] + words[place + 3 :]
        assert others, "a frame leaves at least one small word"
        assert "you" not in others, "whose it is, is the lesson's to say"
        assert set(others) & {"how", "are", "where", "do", "what", "is", "the", "of", "a"}


def test_what_you_and_i_like_stays_different() -> None:
    mine, yours = (
        {text.lower() for text in splices(question, FRAMES, 60, random.Random(1))}
        for question in ("What do I like?", "What do you like?")
    )
    assert mine and yours and not mine & yours


def test_at_most_as_many_as_asked_for_and_the_same_for_the_same_seed() -> None:
    one, other = (splices("Where is my torch?", FRAMES, 3, random.Random(4)) for _ in range(2))
    assert one == other and len(one) == 3
    assert splices("Where is my torch?", FRAMES, 0, random.Random(4)) == []


@pytest.mark.parametrize(
    "frames", [[], [""], ["you"], ["rabbit horse"], [" ".join(["what is the rabbit"] * 4)]]
)
def test_no_frame_that_is_too_long_or_leaves_nothing(frames: list[str]) -> None:
    assert splices("Where is my torch?", frames, 5, random.Random(0)) == []


@pytest.mark.parametrize("question", ["", "?", "is it so", "Grüße 🙂?"])
def test_any_text_is_taken(question: str) -> None:
    for text in splices(question, FRAMES, 10, random.Random(0)):
        assert text.strip() == text and text
