"""The hints of the first minutes."""

from __future__ import annotations

import pytest

from learning.protocol.records import Lesson, LessonState, Turn
from vidya_tui.state.welcome import advice, seen


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("waiting", "is being learned now"),
        ("learned", "Learned. Ask \u201cwho?\u201d once more"),
        ("needs_practice", "needs practice: /train goes over everything"),
        ("undone", "You took that back"),
    ],
)
def test_what_became_of_the_first_correction(state: LessonState, words: str) -> None:
    lesson = Lesson("correction", (Turn("user", "who?"),), "Vidya.", state=state)
    now = advice(seen([lesson], ["who?"]))
    assert now.step == 4 and words in now.words
    assert now.last == (state in ("needs_practice", "undone"))
