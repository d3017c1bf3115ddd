"""Words that tell that something is no longer as it was taught."""

from __future__ import annotations

import pytest

from learning.text.changes import tells_a_change

SISTER = ("What is my sister called?", "Your sister is called Ingrid.")


@pytest.mark.parametrize(
    ("told", "change"),
    [
        ("my sister goes by Runa now", True),
        ("I\u2019ve given up cribbage", True),
        ("my sister moved to Oslo", True),
        ("Actually, my car is blue", True),
        ("I no longer eat meat", True),
        ("Ruben finally left the trams", True),
        ("my new sister is called Runa", True),
        ("Ingrid is now called Runa", True),
        ("my sister is no longer called Ingrid", True),
        ("my sister is called Ingrid now", False),
        ("my sister has a new dog", False),
        ("I had my left ear pierced", False),
        ("my sister is called Runa", False),
        ("I know nothing of cars", False),
        ("I actually like Leeds", False),
    ],
)
def test_a_change_is_told_by_its_words(told: str, change: bool) -> None:
    assert tells_a_change(told, *SISTER) == change
