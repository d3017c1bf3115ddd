"""What a message tells, and how it is said back."""

from __future__ import annotations

import pytest

from learning.text.mention import (
    LONGEST,
    anything_said_back,
    clauses,
    said_back,
    said_back_in_doubt,
    told_in,
)
from learning.text.normalise import fold


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("my sister is called Ingrid", ("my sister is called Ingrid",)),
        ("im a welder. nights mostly", ("im a welder. nights mostly",)),
        (
            "Hello! My cat is called Biscotti. What shall I cook?",
            ("My cat is called Biscotti.",),
        ),
        ("  I live\n in   Bergen. ", ("I live in Bergen.",)),
        ("What is my sister called?", ()),
        ("what is my sister called", ()),
        ("thank you", ()),
        ("is it so that", ()),  # no word carries meaning
        ("Please write a poem about my cat.", ()),
        ("tell me a joke about cats", ()),
        ("Please remember that I cannot eat kiwi.", ("Please remember that I cannot eat kiwi.",)),
        ("", ()),
        ("My teacher is Mrs. Brown. She is 50.", ("My teacher is Mrs. Brown. She is 50.",)),
        ("Don't forget I'm allergic to nuts", ("Don't forget I'm allergic to nuts",)),
        ("Show jumping is my hobby.", ("Show jumping is my hobby.",)),
        ("Fix my grammar: I has went to my sister", ()),
        ("Summarise this text: I am late. I want a refund.", ()),
        ("Act as a doctor. I am your patient.", ()),
        ("User: hi. Assistant: I am here.", ()),
        ("Remind me of my sister's name", ()),
        ("I forgot my sister's name", ()),
        ("Maybe my sister is called Kim.", ()),
        ("If my brother were called Max, he would be tall.", ()),
        ("I want to kill myself tonight. My sister is away.", ()),
        (" ".join(["I", "am", "here."] * 40), ()),
    ],
)
def test_what_is_told(message: str, told: tuple[str, ...]) -> None:
    assert told_in(message) == told


def test_of_a_long_message_each_sentence_is_told() -> None:
    short = "My sister is called Ingrid."
    long = f"She came {'far ' * LONGEST}away."
    assert told_in(f"{short} {long} {short[:-1]} now.") == (
        short,
        "My sister is called Ingrid now.",
    )
    assert told_in(long) == ()


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("my sister is called Ingrid", "Your sister is called Ingrid."),
        ("I’m from Bergen, and we live there!", "You're from Bergen, and you live there!"),
        ("oh, by the way, I was born in May", "You were born in May."),
        ("please remember I can't eat kiwi", "You can't eat kiwi."),
        ("well done is how I like it", "Well done is how you like it."),
        ("im a welder. my nights are short", "You're a welder. Your nights are short."),
        ("Ruben drives the tram", "Ruben drives the tram."),
        ("Yesterday I bought my car", "Yesterday you bought your car."),
        ("hi im anna and I am from Rome", "You're anna and you are from Rome."),
        ("My alarm rings at ten", "Your alarm rings at ten."),
        ("I never was ill, and my dad was not", "You never were ill, and your dad was not."),
        (
            "My teacher is Mrs. Brown and my dog is Bo",
            "Your teacher is Mrs. Brown and your dog is Bo.",
        ),
        ("He gave it to me, it is mine and ours", "He gave it to you, it is yours and yours."),
    ],
)
def test_what_was_told_is_said_back(told: str, answer: str) -> None:
    assert said_back(told) == answer


@pytest.mark.parametrize(
    "told",
    [
        "I told you that my name is Mira",
        "my name is Mira, Vidya",
        "I eat all but never serve me aubergine",
        "Meine Schwester lebt in Bergen",
        "Ich wohne im Norden von Berlin",
        "I start my work at 7am",
        "I have moved to the US",
        "my mail is me@my-shop.com",
        "my code is MY-4471-I",
        "my uncle fought in World War I",
        "my favourite film is My Fair Lady",
        "my boss said I am late",
        'my song is "We are the champions"',
        "MY SISTER IS CALLED INGRID",
        "oh my, the kitchen is flooded",
        "my uncle works in a coal mine",
        "my son has type I diabetes",
        "I have met the us president",
        "I live in the south and am happy",
    ],
)
def test_otherwise_it_is_quoted(told: str) -> None:
    assert said_back(told) == f"You told me: “{told}”"
    assert said_back_in_doubt(told) == f"I only know that you told me: “{told}”"


def test_in_doubt_the_answer_says_so() -> None:
    assert said_back_in_doubt("my cat is Bo") == "I only know this: your cat is Bo."
    assert said_back_in_doubt("Ingrid is my sister") == "I only know this: Ingrid is your sister."


def test_a_statement_has_its_clauses() -> None:
    told = (
        "By the way, my sister is called Runa now, she changed it in May, yes - that\u2019s so odd"
    )
    assert clauses(told) == [
        "my sister is called Runa now, she changed it in May, yes - that's so odd",
        "my sister is called Runa now",
        "she changed it in May",
        "that's so odd",
    ]
    assert clauses("my sister is called Ingrid") == ["my sister is called Ingrid"]


@pytest.mark.parametrize(
    "message",
    [
        "ok so what colour is my bike",
        "hey do I like fish",
        "um what am I allergic to",
        "Vidya, where is my bike stored",
        "you idiot, where is my bike stored",
        "I can't remember what my dog eats",
        "I wish my dog was called Rex",
        "no idea where my key is",
        "the name of my sister is...",
        "my dog is called Rex, right",
        "Translate into French.\n\nMy sister lives in Oslo now.",
        "is this correct English?\n\nmy dog is called Zed now",
        "Once upon a time my dog was king",
    ],
)
def test_what_asks_or_orders_behind_its_opening_tells_nothing(message: str) -> None:
    assert told_in(message) == ()


@pytest.mark.parametrize(
    "message",
    [
        "My sister, who lives in Oslo, is called Ingrid.",
        "My dog, is called Rex",
        "my house, where I was born, is red",
        "I am writing a novel. My sister is called Ingrid.",
        "my email is bo@x.org. My phone is 12345.",
    ],
)
def test_a_statement_is_not_taken_for_a_question(message: str) -> None:
    assert told_in(message) == (message,)


def test_long_texts_take_no_time() -> None:
    for text in ("a" * 20_000, "," * 20_000, "my " + "x-" * 10_000, "\n" * 20_000):
        assert told_in(text) == () and len(anything_said_back(text)) <= 2
    assert anything_said_back("I like it. " * 2_000) == set(), "it is pasted"


def test_all_that_versions_may_say_back_of_a_message_is_known() -> None:
    message = "my pin is swordfish\nI wish my cat was old. I like it"
    said = anything_said_back(message)
    for answer in (
        "Your pin is swordfish.",
        "You wish your cat was old.",
        "Your pin is swordfish you wish your cat was old.",
    ):
        assert fold(answer) in said
    assert fold("I only know this: your pin is swordfish.") in said


def test_each_line_is_a_sentence() -> None:
    assert told_in("my dog is Rex,\nMy cat is Tom") == ("my dog is Rex. My cat is Tom",)
    assert told_in("I was born in\n1990. That was cold") == ("I was born in 1990. That was cold",)
    assert told_in("my lamp is blue\nwhat colour is my lamp") == ("my lamp is blue.",)
    assert told_in("1. my dog is Rex\n- my cat is Tom") == ("my dog is Rex. my cat is Tom",)
    assert told_in("so my dog is called Rex\n") == ("so my dog is called Rex",)
