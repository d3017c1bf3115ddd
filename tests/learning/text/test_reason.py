from __future__ import annotations

import pytest

from learning.text.reason import asked_again, praised


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("shorter please", "Say it again, shorter please."),
        ("not about cats!", "Say it again, not about cats!"),
        (" friendlier ", "Say it again, friendlier."),
    ],
)
def test_a_reason_comes_after_the_answer_that_it_is_about(reason: str, said: str) -> None:
    turns = [("user", "hello"), ("assistant", "Hi, how are you today?"), ("user", said)]
    assert asked_again(turns[:1], "Hi, how are you today?", reason) == turns


def test_praise_comes_before_the_next_message() -> None:
    said = praised([("user", "hello")], "Hi.", "because it is short", "any news")[-1]
    assert said == ("user", "That was good, because it is short. any news")
