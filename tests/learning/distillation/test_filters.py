from __future__ import annotations

import pytest

from learning.distillation.filters import agreement, fault


@pytest.mark.parametrize(
    ("answer", "ended", "expected"),
    [
        ("A lake is a body of water with land all around it.", True, None),
        ("It sleeps, I think (like you!)", True, None),
        ("A lake is a body of", False, "cut off"),
        ("  ", True, "empty"),
        ("A lake\ufffd.", True, "broken"),
        ("A lake is a body of water and", True, "unfinished"),
        ("You can do it if you can do it if you can do it.", True, "repeats itself"),
        ("What is a very large lake?", True, "echoes"),
    ],
)
def test_faults_of_one_answer(answer: str, ended: bool, expected: str | None) -> None:
    assert fault(answer, "What is a very large lake?", ended=ended) == expected


def test_a_short_answer_may_use_the_words_of_the_question() -> None:
    assert fault("Yes, I like tea.", "Do you like tea?", ended=True) is None
    assert (
        fault("Coffee or tea, both are good in the morning.", "coffee or tea", ended=True) is None
    )


def test_the_answer_that_says_what_most_say_agrees_most() -> None:
    found = agreement(["The capital is Oslo.", "The capital is Oslo!", "I like fish."])
    assert found[0] == found[1] == pytest.approx(0.5)
    assert found[2] == 0.0


def test_agreement_by_hand() -> None:
    # "a b c" and "a b d": two of three words each way, F1 = 2/3
    assert agreement(["a b c", "a b d"]) == pytest.approx([2 / 3, 2 / 3])
    assert agreement(["alone"]) == [1.0]
    assert agreement([]) == []
