"""learning.text.blame: which part of an answer is meant."""

from __future__ import annotations

import pytest

from engine.errors import VidyaError
from learning.text.blame import from_words, last_sentence, these_words

CATS = "Cats purr when they are happy. They are a kind of  fish."


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        (CATS, "They are a kind of  fish."),
        ("Is it? No! Yes", "Yes"),
        ("He said \u201cno.\u201d Then he left.  ", "Then he left."),
        ("I know Mr. Gray. He lives in St. Ives.", "He lives in St. Ives."),
        ("It is 3.5 metres. i am small.", None),
        ("first line\n\n  second line", "second line"),
        ("Well... that is it.", None),
        ("One sentence.", None),
    ],
)
def test_the_last_sentence(answer: str, last: str | None) -> None:
    if last is None:
        with pytest.raises(VidyaError, match="one sentence only"):
            last_sentence(answer)
    else:
        start, end = last_sentence(answer)
        assert answer[start:end] == last


def test_words_are_found_in_any_case_and_with_any_spaces() -> None:
    start, end = from_words(CATS, "they ARE  a")
    assert CATS[start:end] == "They are a kind of  fish."
    start, end = these_words(CATS, "kind of fish")
    assert CATS[start:end] == "kind of  fish"
    assert from_words(CATS, "Cats")[0] == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (" ", "no words were given"),
        ("dogs", "does not have the words \u201cdogs\u201d"),
        ("urr", "does not have the words"),
        ("they are", "has the words \u201cthey are\u201d 2 times"),
    ],
)
def test_words_that_name_no_part(words: str, what: str) -> None:
    with pytest.raises(VidyaError, match=what) as caught:
        these_words(CATS, words)
    assert caught.value.next_step
