from __future__ import annotations

import pytest

from benchmarks.talking.talk_data import load, seen
from learning.text.openings import expanded, openings


def test_patterns_are_filled_with_every_word_of_their_lists() -> None:
    text = "# said\nHello!\n@place Rome\n|Oslo\n@thing owl|cat\n\n{place}: {a thing}?\nIn {place}."
    assert expanded(text) == [
        "Hello!",
        "Rome: an owl?",
        "Rome: a cat?",
        "Oslo: an owl?",
        "Oslo: a cat?",
        "In Rome.",
        "In Oslo.",
    ]
    with pytest.raises(KeyError, match="place"):
        expanded("In {place}.")


def test_there_are_many_each_once_in_a_fixed_order() -> None:
    found = openings()
    assert len(found) == len(set(found)) > 1200
    assert found == openings() != sorted(found)
    assert not [text for text in found if "{" in text or "|" in text or text != text.strip()]


def test_the_benchmark_of_talk_asks_none_of_them() -> None:
    assert seen(load(), openings()) == {}
