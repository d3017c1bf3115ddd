"""learning.text.questions.asking: what asks for something."""

from __future__ import annotations

import pytest

from learning.text.questions.asking import (
    asks_in_any_order,
    asks_in_english,
    is_question,
    states,
)


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


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("where do i live", True),
        ("The cat?", True),
        ("who is oriel", True),
        ("Tell me about it", True),
        ("describe my dog", True),
        ("My dog is called Rex", False),
        ("my trade, what is it", True),
        ("my floor, which number is it", True),
        ("my ring, where's it lost", True),
        ("who gave me my dog", True),
        ("which code opens the door", True),
        ("at what trade do i work", True),
        ("how long have i been there", True),
        ("my ex-wife is living where", True),
        ("im deaf in which ear", True),
        ("I was born on what day again", True),
        ("It depends on which day", False),
        ("the fruit I am allergic to please", True),
        ("My house has no number, which vexes the postman.", False),
        ("My sister, who is ill, rang me.", False),
        ("Just watched Tarzan. What a great movie!", False),
        ("I do not know what", False),
        ("I have no idea what", False),
        ("God knows where", False),
        ("My boss is hard to please.", False),
        ("I bought a car, which I have wanted for years.", False),
        ("My dog, which I have renamed, is called Rex.", False),
        ("How far we have come!", False),
        ("I am tired. Why bother.", False),
        ("Which reminds me, I have to call my mum.", False),
        ("what name has my dog", True),
        ("what about my sister", True),
        ("what makes my lips swell up", True),
        ("what happened to my dog", True),
        ("how far is my sister's house", True),
        ("who cares", False),
        ("", False),
    ],
)
def test_what_is_asked_in_any_order(message: str, asked: bool) -> None:
    assert asks_in_any_order(message) == asked


def test_words_that_ask_in_english() -> None:
    for asked in ("What is my name?", "whats my name", "Is it late?", "tell me my name"):
        assert asks_in_english(asked), asked
    for other in ("Wie hei\u00dft meine Schwester?", "waht is it?", "My sister?", "I am here."):
        assert not asks_in_english(other), other


@pytest.mark.parametrize(
    ("message", "stated"),
    [
        ("My sister lives in Oslo now.", True),
        ("I have three children now.", True),
        ("well, I work at a bank", True),
        ("my car is blue", True),
        ("I\u2019m tired", True),
        ("I painted the front door red.", True),
        ("where my sister lives", False),
        ("sister's name", False),
        ("i forgot my sister's name", False),
        ("I can't find my keys", False),
        ("the car, what colour is it", False),
        ("my dog is called what", False),
        ("Is my car blue?", False),
        ("remind me of the wifi password", False),
        ("Hello!", False),
        ("", False),
    ],
)
def test_what_has_the_form_of_a_statement(message: str, stated: bool) -> None:
    assert states(message) == stated
