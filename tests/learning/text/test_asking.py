"""learning.text.asking: what asks for something."""

from __future__ import annotations

import pytest

from learning.text.asking import asked_form, asks_yes_or_no, fits, has_form, is_question


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


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How old is my sister?", "number"),
        ("tell me how many legs my dog has", "number"),
        ("What year was I born in?", "number"),
        ("do you know when I met Ann", "time"),
        ("Since when do I smoke?", "time"),
        ("How often do I swim?", "time"),
        ("how long have I been here", "time"),
        ("On which day do I swim?", "time"),
        ("When I met the Queen, what went wrong?", None),
        ("Who waters the plants when we are away?", None),
        ("How is my sister?", None),
        ("What is my number?", None),
        ("", None),
    ],
)
def test_what_an_answer_must_have(question: str, form: str | None) -> None:
    assert asked_form(question) == form


def test_numbers_and_times() -> None:
    for text in ("She is 30.", "Thirty-one."):
        assert has_form(text, "number") and has_form(text, "time")
    for text in ("On Mondays.", "Last summer.", "You never did."):
        assert has_form(text, "time") and not has_form(text, "number")
    assert not has_form("Your sister is called Ingrid.", "time")


def test_what_was_taught_for_another_kind_of_question_does_not_fit() -> None:
    sister = ("What is my sister called?", "Your sister is called Ingrid.")
    assert not fits("How old is my sister?", *sister) and fits("Who is my sister?", *sister)
    assert fits("How old is my sister?", "Who is my sister?", "She is Ann, 30 years old.")
    assert fits("When does it open?", "When is the bar open?", "It never is."), "asks for the same"
