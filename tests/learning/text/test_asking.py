"""learning.text.asking: what asks for something."""

from __future__ import annotations

import pytest

from learning.text.asking import is_question


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
