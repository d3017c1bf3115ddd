"""learning.text.frames: a question's own words in the frames of other questions."""

from __future__ import annotations

import random

import pytest

from learning.text.frames import Questions, carrying, splices

FRAMES = Questions(
    ["how old are you", "where do you live", "what is the capital of france", "name a colour"]
)


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


def _made(question: str, count: int = 60, seed: int = 0) -> list[list[str]]:
    texts = splices(question, FRAMES, count, random.Random(seed))
    assert len({text.lower() for text in texts}) == len(texts) > 7
    return [text.lower().rstrip("?").split() for text in texts]


def test_they_stand_between_the_words_of_others() -> None:
    for words in _made("What is my rabbit called?"):
        assert "rabbit" in words, "the rarest never falls out"
        assert words[words.index("rabbit") - 1] == "my", "whose it is stays with it"
        assert set(words) - {"my", "rabbit", "called"}, "a frame leaves at least one word"


def test_other_words_fall_out_and_stand_apart() -> None:
    made = _made("What is my rabbit called?")
    joined = [" ".join(words) for words in made]
    assert any("called" not in words for words in made)
    assert any("my rabbit called" in text for text in joined), "all in one piece"
    apart = [words for words in made if {"rabbit", "called"} <= set(words)]
    assert any(words.index("called") < words.index("rabbit") for words in apart)
    assert any(words.index("called") > words.index("rabbit") + 1 for words in apart)


def test_what_the_frames_have_too_is_not_the_rarest() -> None:
    for words in _made("Which capital has my torch?"):
        assert "torch" in words
    assert any("capital" not in words for words in _made("Which capital has my torch?"))


def test_some_of_a_frames_own_words_stay() -> None:
    made = _made("What is my rabbit called?")
    own = {"old", "live", "capital", "france", "name", "colour"}
    assert any(own & set(words) for words in made) and any(not own & set(words) for words in made)


def test_every_other_frame_is_of_the_second_kind() -> None:
    memory, talk = Questions(["is it hot"]), Questions(["do we see the sea"])
    made = splices("my torch", memory, 40, random.Random(0), talk=talk)
    assert made and all("my torch" in text.lower() for text in made)
    assert {"do", "the", "it"} <= {word for text in made for word in text.lower().split()}
    alone = splices("my torch", Questions(), 40, random.Random(0), talk=talk)
    assert alone and not any("it" in text.lower().split() for text in alone)


@pytest.mark.parametrize(
    ("question", "word"),
    [("Как зовут мою собаку?", "собаку"), ("What is Anna's kayak?", "kayak")],
)
def test_of_words_that_nobody_used_the_longest_stays(question: str, word: str) -> None:
    made = splices(question, FRAMES, 60, random.Random(0))
    if "kayak" in question:
        word = "anna"
    assert made and all(word in text.lower() for text in made)


def test_nothing_falls_out_where_the_rest_asks_for_something_else() -> None:
    parrot = Questions([*FRAMES.texts, "what is my parrot nicknamed", *["has my rabbit hay"] * 3])
    made = splices("What is my rabbit nicknamed?", parrot, 60, random.Random(0))
    assert made and all("my rabbit" in text.lower() for text in made)


def test_whose_it_is_never_falls_out() -> None:
    for question, who in (
        ("Where did you first meet Zebulon?", "you"),
        ("Where did I meet Zebulon?", "i"),
    ):
        assert all(who in words for words in _made(question))


def test_its_own_question_is_no_frame() -> None:
    own = "what is my rabbit called"
    made = splices("What is my rabbit called?", Questions([own]), 9, random.Random(0), own={own})
    assert made == []


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
    assert splices("Where is my torch?", Questions(frames), 5, random.Random(0)) == []


@pytest.mark.parametrize("question", ["", "?", "is it so", "Grüße 🙂?"])
def test_any_text_is_taken(question: str) -> None:
    for text in splices(question, FRAMES, 10, random.Random(0)):
        assert text.strip() == text and text
