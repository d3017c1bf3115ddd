"""learning.text.questions and learning.text.verbs: what a question asks for."""

from __future__ import annotations

import random

import pytest

from learning.text.questions import Asked, contracted, expanded, is_question, understand
from learning.text.synonyms import EXCHANGED
from learning.text.verbs import past, third_person


def ask(question: str) -> Asked:
    return understand(question, random.Random(0))


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("What is my rabbit called", "what my rabbit is called"),
        ("whats my dads name", "what my dad is called"),
        ("Where does my sister live", "where my sister lives"),
        ("What did I study", "what I studied"),
        ("How many strings does a guitar have", "how many strings a guitar has"),
        ("When does the market open", "when the market opens"),
        ("Which planet is closest to the sun", "Which planet is closest to the sun".lower()),
        ("How hot is boiling water", "how hot boiling water is"),
        ("Where was I born", "where I was born"),
        ("Do I eat meat", "whether I eat meat"),
        ("Does my brother eat meat", "if my brother eats meat"),
        ("What colour is my front door", "which colour my front door is"),
    ],
)
def test_as_a_clause(question: str, clause: str) -> None:
    assert clause in ask(question).clauses


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What is my rabbit called", "the name of my rabbit"),
        ("what is my mothers name", "my mother's name"),
        ("How old am I", "my age"),
        ("How tall is the tower", "the height of the tower"),
        ("What is the capital of Norway", "Norway's capital"),
        ("What colour is my front door", "the colour of my front door"),
        ("Which planet is the largest", "the largest planet"),
        ("What car do I drive", "the car I drive"),
        ("Tell me your favourite number", "your favourite number"),
        ("When is my mother's birthday", "the date of my mother's birthday"),
    ],
)
def test_as_a_thing(question: str, thing: str) -> None:
    assert thing in ask(question).things


@pytest.mark.parametrize(
    ("question", "direct"),
    [
        ("What is my rabbit called", "what's my rabbit's name"),
        ("what is the name of my rabbit", "what is my rabbit called"),
        ("Who is Zefrin", "Who's Zefrin"),
        ("When is choir practice", "what day is choir practice"),
        ("What is the capital of Norway", "what's Norway's capital"),
        ("Am I allergic to anything", "what am I allergic to"),
        ("Do you have a favourite season", "which season is your favourite"),
        ("Where is the torch", "where can I find the torch"),
    ],
)
def test_as_another_question(question: str, direct: str) -> None:
    assert direct in ask(question).direct


@pytest.mark.parametrize("text", ["I burnt the toast", "Cats or dogs", "hello", "What", "what is"])
def test_what_is_no_question_is_taken_as_it_is(text: str) -> None:
    assert ask(text) == Asked([text])


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What colour is Anna's car", "anna"),
        ("What team am I in", "team"),
        ("What time is dinner tonight", "dinner"),
        ("Who was the king of Norway", "norway"),
        ("How long was I in hospital", "hospital"),
        ("What is my boss name", "boss"),
        ("Tell me where I live", "live"),
        ("Who did the dishes", "dishes"),
        ("name of my goldfish", "goldfish"),
        ("What kind of dogs do you like", "kind of dogs"),
    ],
)
def test_what_it_is_about_is_never_dropped(question: str, kept: str) -> None:
    for seed in range(5):
        asked = understand(question, random.Random(seed))
        for text in asked.direct + asked.clauses + asked.things:
            assert kept in text.lower()


@pytest.mark.parametrize(
    ("question", "never"),
    [
        ("What am I called", ("is i ", "of i", "i's")),
        ("How old is she", ("she's age",)),
        ("Where am I", ("find i",)),
        ("Tell me a joke", ("what is a joke", "what's a joke")),
        ("Is my dog old", ("dog old is",)),
        ("Can my sister swim", ("swim can",)),
        ("Who was the king of Norway", ("who is norway", "who's")),
        ("What kind of dogs do you like", ("kind of kind of",)),
        ("Which planet is the largest", ("which's",)),
    ],
)
def test_what_nobody_says(question: str, never: tuple[str, ...]) -> None:
    asked = ask(question)
    for text in asked.direct + asked.clauses + asked.things:
        assert not any(part in f"{text.lower()} " for part in never)


def test_whose_it_is_is_in_no_exchanged_word() -> None:
    owners = {"i", "me", "my", "you", "your", "we", "our", "us"}
    for word, others in EXCHANGED.items():
        assert not owners & {w for text in (word, *others) for w in text.split()}, word


def test_who_asks_for_oneself_names_no_thing() -> None:
    assert ask("Who am I").things == [] and ask("Who am I").clauses == ["who I am"]


def test_contractions_there_and_back() -> None:
    assert expanded("whats my name") == expanded("what's my name") == "what is my name"
    assert expanded("what\u2019s my name") == "what is my name"
    assert contracted("Where is the torch") == "Where's the torch"
    assert contracted("where are you") == "where are you"


def test_verbs() -> None:
    assert [third_person(v) for v in ("live", "study", "have", "watch", "play")] == [
        "lives",
        "studies",
        "has",
        "watches",
        "plays",
    ]
    assert [past(v) for v in ("buy", "stop", "study", "live", "play", "spill")] == [
        "bought",
        "stopped",
        "studied",
        "lived",
        "played",
        "spilled",
    ]


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("where do i live", True),
        ("Is it far", True),
        ("The cat?", True),
        ("please tell me my name.", True),
        ("I had a long day.", False),
        ("Good morning!", False),
        ("", False),
    ],
)
def test_what_is_a_question(message: str, asked: bool) -> None:
    assert is_question(message) == asked
