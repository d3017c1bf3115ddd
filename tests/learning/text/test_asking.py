"""learning.text.asking: what asks for something."""

from __future__ import annotations

import pytest

from learning.text.asking import asks_yes_or_no, is_question


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("where do i live", True),
        ("Is it far", True),
        ("The cat?", True),
        ("please tell me my name.", True),
        ("what\u2019s my name", True),
        ("I had a long day.", False),
        ("When I think of him I cry", False),
        ("what", False),
        ("Good morning!", False),
        ("", False),
    ],
)
def test_what_is_a_question(message: str, asked: bool) -> None:
    assert is_question(message) == asked


def test_what_is_answered_by_yes_or_no() -> None:
    assert asks_yes_or_no("Is my sister called Astrid?") and asks_yes_or_no("do I eat meat")
    assert not asks_yes_or_no("Do you know what my sister is called?")
    assert not asks_yes_or_no("What is my sister called?")
