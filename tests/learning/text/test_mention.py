"""What a message tells, and how it is quoted."""

from __future__ import annotations

import pytest

from learning.text.mention import LONGEST, quoted, told_in


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("my sister is called Ingrid", ("my sister is called Ingrid",)),
        ("im a welder. nights mostly", ("im a welder. nights mostly",)),
        (
            "Hello! My cat is called Biscotti. What shall I cook?",
            ("Hello! My cat is called Biscotti.",),
        ),
        ("  I live\n in   Bergen. ", ("I live in Bergen.",)),
        ("What is my sister called?", ()),
        ("what is my sister called", ()),
        ("thank you", ()),
        ("is it so that", ()),  # no word carries meaning
        ("Please write a poem about my cat.", ()),
        ("tell me a joke about cats", ()),
        ("Please remember that I cannot eat kiwi.", ("Please remember that I cannot eat kiwi.",)),
        ("", ()),
    ],
)
def test_what_is_told(message: str, told: tuple[str, ...]) -> None:
    assert told_in(message) == told


def test_of_a_long_message_each_sentence_is_told() -> None:
    short = "My sister is called Ingrid."
    long = f"She came {'far ' * LONGEST}away."
    assert told_in(f"{short} {long} {short[:-1]} now.") == (
        short,
        "My sister is called Ingrid now.",
    )
    assert told_in(long) == ()


def test_a_quotation_says_whose_words_it_has() -> None:
    assert quoted("I live in Bergen") == "You told me: \u201cI live in Bergen\u201d"
