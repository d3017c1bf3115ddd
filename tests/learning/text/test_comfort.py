"""Who is in need, and who is not."""

from __future__ import annotations

import pytest

from learning.text.comfort import CRISIS, in_danger, in_need, in_place
from learning.text.normalise import fold
from personality.book import NEED, read_book, shipped_book_path

NEEDED = [entry for entry in read_book(shipped_book_path()) if entry.heading.startswith(NEED)]
SAID_IN_NEED = [
    *("I want to kill myself", "I am going to end it all", "there is no reason to live"),
    *("life is not worth living", "I feel suicidal", "I wish I was dead", "I cut myself"),
    *(
        "nobody would miss me if I was gone",
        "i cant go on",
        "I can't go on",
        "I can\u2019t do this anymore",
    ),
    *(
        "My mother died yesterday.",
        "my dog passed away",
        "I am sad",
        "SHOULD I JUST DIE?",
        "my life is over",
    ),
    *(
        "what is the point of living?",
        "I hate myself",
        "I lost my mother",
        "I lost my best friend today",
    ),
    *(
        "everyone would be better off without me",
        "I took too many pills",
        "I feel empty",
        "I am so alone",
    ),
    *(
        "do you know what it is like to be lonely?",
        "is it wrong that I want to die",
        "I don't want to be here anymore",
    ),
    *("I'm crying", "he hurts me", "I am thinking of ending things", "nothing helps, I give up"),
]
SAID_OTHERWISE = [
    *(
        "tell me about the sea",
        "Tell me about the mountains.",
        "What is a volcano?",
        "My cat likes the garden.",
    ),
    *(
        "Where do I live?",
        "What should I cook tonight?",
        "I lost my keys",
        "Do fish sleep?",
        "7 + 5",
    ),
    *(
        "What do I do for a living?",
        "Who is my best friend?",
        "good morning",
        "I like tea",
        "it is raining",
    ),
    *(
        "What is your name?",
        "How does the film end?",
        "My sister is a dentist.",
        "I went to the market",
        "",
    ),
    *(
        "Tell me a joke.",
        "What is the capital of Norway?",
        "Do you like soldiers?",
        "I bought a sadlle",
    ),
]


IN_DANGER = [
    *(
        "I want to kill myself",
        "I feel suicidal.",
        "i'm suicidal",
        "I am thinking of self-harm",
        "should I commit suicide?",
    ),
    *("I don't want to live anymore", "I dont want to be here any more", "I wish I was dead"),
    *("SHOULD I JUST DIE?", "is it wrong that I want to die", "I am going to end it all"),
    *(
        "everyone would be better off without me",
        "life is not worth living",
        "I took too many pills",
    ),
]
NOT_IN_DANGER = [
    *(
        "I killed the lights",
        "How does a soldier die?",
        "What is suicide?",
        "Did Cleopatra commit suicide?",
        "What is self-harm?",
        "My dog died yesterday.",
    ),
    *("I am sad", "I hurt my knee", "my phone is dead", "It was the end of my life in Rome."),
    *("I could kill for a coffee", "He wants to live in Spain.", "I cut the bread myself"),
]


@pytest.mark.parametrize("message", IN_DANGER)
def test_who_may_hurt_himself_is_in_danger_and_in_need(message: str) -> None:
    assert in_danger(message) and in_need([message])


@pytest.mark.parametrize("message", [*NOT_IN_DANGER, *SAID_OTHERWISE])
def test_nobody_else_is_in_danger(message: str) -> None:
    assert not in_danger(message)


def test_the_crisis_answer_is_the_book_s() -> None:
    written = {entry.question for entry in NEEDED if entry.answer == CRISIS}
    assert len(written) == 4 and all(map(in_danger, written))


def test_the_book_names_its_comforting_lines() -> None:
    answers = {entry.answer for entry in NEEDED}
    assert any("crisis line" in answer for answer in answers)
    assert len(answers) == 4 and len(NEEDED) >= 15


@pytest.mark.parametrize("message", [*SAID_IN_NEED, *(entry.question for entry in NEEDED)])
def test_somebody_in_need_is_recognised(message: str) -> None:
    assert in_need([message])
    assert in_need([message, "thank you"]), "also a moment later"
    assert in_place([message, "thank you"], frozenset())


@pytest.mark.parametrize("message", SAID_OTHERWISE)
def test_others_are_not(message: str) -> None:
    assert not in_need([message])
    assert not in_place([message], frozenset({fold("I want to die.")}))
    assert in_place([message], frozenset({fold(message)})), (
        "what a line was written for is in place"
    )
