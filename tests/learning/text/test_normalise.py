"""learning.text.normalise: what counts as the same question, and what does not."""

from __future__ import annotations

import pytest

from learning.text.normalise import fold, fold_prompt


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 9+3?", "What is 9-3?"),
        ("What is 9*3?", "What is 9/3?"),
        ("What is 7 times -5?", "What is 7 times 5?"),
        ("Is 3 < 5?", "Is 3 > 5?"),
        ("Who made C?", "Who made C++?"),
        ("What is C?", "What is C#?"),
        ("\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"),
        ("दिन", "दान"),
        (":)", ":("),
        ("?", "!"),
    ],
)
def test_different_questions_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hello!!", "Hello"),
        ("What's up?", "whats  up"),
        ("What\u2019s up?", "What's up"),
        ("a well-known man", "A well known man"),
        ("COVID-19", "Covid 19"),
        ("Yes - and no.", "yes, and no"),
        ("What is 9+3?", "what is 9 + 3"),
        ("9\u22123", "9 - 3"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u2764\ufe0f", "\u2764"),
        ("say `this`", "say this"),
        ("...", " ... "),
    ],
)
def test_what_does_not_matter_is_folded_away(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_signs_are_words_of_their_own_and_punctuation_is_gone() -> None:
    assert fold("Is 50% of 9-3 = 3, or C++?") == "is 50 % of 9 - 3 = 3 or c + +"
    assert fold(" \n") == ""


def test_two_turns_are_no_question_with_a_slash() -> None:
    turns = [("user", "a"), ("assistant", "b")]
    assert fold_prompt(turns) != fold_prompt([("user", "a / b")])
    assert fold_prompt(turns) != fold_prompt([("user", "a // b")])
