"""Whether a question names a number that the owner's words do not have."""

from __future__ import annotations

import pytest

from learning.text.questions.numbers_named import names_another_number


@pytest.mark.parametrize(
    ("message", "told", "another"),
    [
        ("Where is room 14?", "my room is 12", True),
        ("who is in flat 4 now", "Joan lives in flat 3", True),
        ("what did i do on 4 may", "I went to Oslo on 3 may", True),
        ("the 2nd jab", "first jab was on Monday", True),
        ("the 2nd jab", "Second jab is on Monday", False),
        ("pilates at 5 pm?", "Pilates is at 5pm on Mondays", False),
        ("code 4 the front door", "the door code is 3380#", False),
        ("where did mum work b4 me", "mum worked at the mill", False),
        ("is the m25 shut", "The M25 is shut", False),
        ("Where is my key?", "my key is in room 12", False),
    ],
)
def test_numbers(message: str, told: str, another: bool) -> None:
    assert names_another_number(message, told) == another
