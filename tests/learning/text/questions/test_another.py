"""A question about somebody or something else is told from a taught one, in the forms that people write."""

from __future__ import annotations

import pytest

from benchmarks.facts.people_data import PersonFact, read_people
from learning.text.questions.another import (
    NEIGHBOURS,
    asks_another,
    asks_in_general,
    asks_of_its_owner,
    leaves_out_the_owner,
    neighbours,
    of_somebody_else,
    put_in_place,
    tells_of_another,
)

SISTER = ("What is my sister called?", "Your sister is called Ingrid.")
WORK = ("Where do I work?", "You work at the harbour.")
DRINK = ("what do i drink at parties", "At parties you drink arak.")
BEFORE = ("What do I do before work?", "Before work you row.")
NAMED = ("What does Declan's son play?", "Declan's son plays the drums.")


@pytest.mark.parametrize(
    ("taught", "message"),
    [
        (SISTER, "What is Tom's sister called?"),
        (SISTER, "what's my boss’s sister's name"),
        (SISTER, "Do you know what Tom's sister is called?"),
        (WORK, "Where does Tom work?"),
        (WORK, "where did my father work"),
        (DRINK, "what does eitan drink at parties"),
        (DRINK, "Which cocktails does Eitan drink at parties?"),
        (NAMED, "What does Tom's son play?"),
        (SISTER, "What is my brother called?"),
        (SISTER, "what's the name of my mum"),
        (SISTER, "What is my grandad called?"),
        (BEFORE, "What do I do after work?"),
        (BEFORE, "what do i do after work"),
        (("What do I eat for breakfast?", "You eat eggs."), "What do I eat for supper?"),
        (("Where is our cat?", "Your cat is out."), "Where is our dog?"),
    ],
)
def test_something_else(taught: tuple[str, str], message: str) -> None:
    assert asks_another(message, *taught)


@pytest.mark.parametrize(
    ("taught", "message"),
    [
        (SISTER, "What's my sister's name?"),
        (SISTER, "what's the name of my sister"),
        (SISTER, "Is Ingrid my sister?"),
        (SISTER, "Who is Ingrid's brother?"),
        (SISTER, "What is Tom's dog called?"),  # another question altogether
        (WORK, "Where do I work?"),
        (WORK, "Does Tom know where I work?"),
        (WORK, "What is today's work?"),
        (WORK, "Where is the work that I do?"),
        (DRINK, "my usual drink at parties?"),
        (NAMED, "what's Declan's son playing"),
        (("What is my sister's number?", "It is 4817."), "What is Ingrid's number?"),
        (("Who am I?", "You are Ann."), "Who is Tom?"),
        (SISTER, ""),
        (BEFORE, "What do I do in the morning, before work?"),
        (BEFORE, "Before work, what do I do?"),
        (("How is my mother?", "Your mother is well."), "How is my mum?"),
        (("Who is my boss?", "Your boss is your uncle."), "Who is my uncle?"),
    ],
)
def test_the_same_or_not_to_be_told(taught: tuple[str, str], message: str) -> None:
    assert not asks_another(message, *taught)


@pytest.mark.parametrize(
    ("message", "told", "other"),
    [
        ("What is my sister called?", "my sister is called Ingrid", False),
        ("What is Tom's sister called?", "my sister is called Ingrid", True),
        ("What is Tom's sister called?", "Tom has a sister, Ingrid", False),
        ("What is Tom’s sister called?", "Tom’s sister is Ingrid", False),
        ("What does Ruben do for a living?", "I restore globes", True),
        ("what does ruben do for a living", "Ruben drives a tram", False),
        ("What is my brother called?", "my sister is called Ingrid", True),
        ("What is my brother called?", "my brother and my sister are twins", False),
        ("Where does our cat sleep?", "our old dog sleeps in the hall", True),
        ("What does our landlord do at night?", "my husband drives a tram at night", True),
        ("What is your name?", "my name is Mira", True),
        ("Do you know my name?", "my name is Mira", False),
        ("What is the capital of France?", "the capital of Norway is Oslo", True),
        ("What is 7 times 8?", "Nora is 7 years old", True),
        ("Is my sister called Astrid?", "my sister is called Ingrid", False),
        ("Hello! What is the name of my sister?", "my sister is called Ingrid", False),
        ("What is the name of my sister, Vidya?", "my sister is called Ingrid", False),
        ("What is Anna-Maria's number?", "Anna-Maria has the number 12 34", False),
        ("Does Ruben live in Oslo?", "my sister lives in Oslo", True),
        ("code 4 the front door?", "the door code of our building is 3380#", False),
        ("where is my 2nd epipen", "Second EpiPen is in my desk", False),
        ("what did mum do b4 me", "mum worked at the sweet factory till I was born", False),
        ("Where is room 14?", "my room is 12", True),
        ("who is in flat 4", "Joan lives in flat 3", True),
        ("Is Tom's sister called Astrid?", "my sister is called Ingrid", True),
    ],
)
def test_a_question_about_somebody_whom_the_owner_did_not_name(
    message: str, told: str, other: bool
) -> None:
    assert of_somebody_else(message, told) == other


@pytest.mark.parametrize(
    ("message", "general"),
    [
        ("How do I learn to juggle?", True),
        ("What should I do against a headache?", True),
        ("Will you write me a poem about the sea?", True),
        ("What is a half marathon?", True),
        ("What is penicillin?", True),
        ("What is my name?", False),
        ("Where is the spare key?", False),
        ("How do I spell my name?", False),
        ("Do you know how my sister is called?", False),
        ("What is Nomvula studying?", False),
        ("Where is Olga from?", False),
        ("where is paris", True),
        ("What is under the stairs?", False),
        ("What is kept in the shed?", False),
    ],
)
def test_a_question_that_asks_for_nothing_of_the_owner(message: str, general: bool) -> None:
    assert asks_in_general(message) == general


def test_of_somebody_of_his_only_advice_is_general() -> None:
    assert asks_in_general("What is Helen?")
    assert not asks_in_general("What is Helen?", of_his=True)
    assert asks_in_general("What should I give Helen?", of_his=True)


def test_what_is_put_in_the_place_of_what_was_taught() -> None:
    taught = ("What is my sister called?", "Your sister is called Ingrid.")
    for text, words in {
        "Your mum is called Ingrid.": {"mother", "mum", "mom", "mam", "mummy", "mommy"},
        "Ingrid is your cousin.": {"cousin"},
        "Your sister is called Ingrid.": set(),
        "Your dog is called Ingrid.": set(),
        "Your sister, not your mother, is called Ingrid.": set(),
        "A cousin is a relative.": set(),
    }.items():
        assert put_in_place(text, *taught) == words, text
    both = ("Who is my boss?", "Your boss is your uncle.")
    assert not put_in_place("Your uncle is your boss.", *both)


def _asked(fact: PersonFact) -> list[str]:
    wordings = [fact.prompt, *fact.rewordings, *fact.paraphrases]
    return [*wordings, fact.hop.prompt, fact.yes.prompt, fact.no.prompt]


def test_how_often_it_is_right_about_questions_of_people() -> None:
    """Of the tuning half: most questions about somebody else, and hardly one about the fact itself."""
    facts = read_people("tune")
    others = [asks_another(fact.neighbour, fact.prompt, fact.answer) for fact in facts]
    wrong = [text for f in facts for text in _asked(f) if asks_another(text, f.prompt, f.answer)]
    assert sum(others) >= 65 and len(facts) == 100
    assert len(wrong) <= 2, wrong


@pytest.mark.parametrize(
    ("taught", "made"),
    [
        (
            SISTER,
            [
                *("What is Tom's sister called?", "What is my brother called?"),
                "What is Peter's sister called?",
            ],
        ),
        (WORK, ["Where does Tom work?", "Where does Peter work?", "Where does Felix work?"]),
        (
            DRINK,
            [f"what does {name} drink at parties" for name in ("Tom", "Peter", "Felix")],
        ),
        (
            BEFORE,
            [
                *("What does Tom do before work?", "What do I do after work?"),
                "What does Peter do before work?",
            ],
        ),
        (
            ("What do I do on Mondays with Tom?", "On Mondays you sing with Tom."),
            [
                *("What does Peter do on Mondays with Tom?", "What do I do on Tuesdays with Tom?"),
                "What does Felix do on Mondays with Tom?",
            ],
        ),
        (
            ("Am I taller than my wife?", "You are taller."),
            [
                *("Is Tom taller than his wife?", "Am I taller than my husband?"),
                "Is Peter taller than his wife?",
            ],
        ),
        (
            NAMED,
            [
                *("What does Tom's son play?", "What does Declan's daughter play?"),
                "What does Peter's son play?",
            ],
        ),
        (
            ("What is your name?", "I am Vidya."),
            [f"What is {name}'s name?" for name in ("Tom", "Peter", "Felix")],
        ),
        (("What is the capital of France?", "Paris."), []),
        (("Where is the hut that I told you I like?", "By the lake."), []),
        (("What may happen?", "Nothing."), []),  # no month
    ],
)
def test_questions_about_somebody_or_something_else_are_made(
    taught: tuple[str, str], made: list[str]
) -> None:
    assert neighbours(*taught) == made


def test_what_is_made_of_the_facts_of_people_asks_something_else() -> None:
    made = 0
    for fact in read_people("tune"):
        found = neighbours(fact.prompt, fact.answer)
        assert len(found) <= NEIGHBOURS and fact.prompt not in found
        assert all(asks_another(text, fact.prompt, fact.answer) for text in found)
        made += bool(found)
    assert made >= 90


CAR = ("What colour is our car?", "Your car is turquoise.")
PLANTS = ("Who waters our plants while we are away?", "Mr Okonjo waters your plants.")


@pytest.mark.parametrize(
    ("message", "taught", "left_out"),
    [
        ("The car, what colour is it?", CAR, True),
        ("which colour has the car", CAR, True),
        ("Does Mr Okonjo water the plants?", PLANTS, True),
        ("who's watering the plants?", PLANTS, True),
        ("What colour is Tom's car?", CAR, False),
        ("What colour is the neighbours' car?", CAR, False),
        ("What colour is your car?", CAR, False),
        ("What colour is his car?", CAR, False),
        ("Who waters the plants of Mrs Hay?", PLANTS, False),
        ("What colour is the sky?", CAR, False),
        ("What colour is the sky?", ("What colour is the sky?", "Blue."), False),
    ],
)
def test_a_message_may_leave_out_that_it_is_the_owners(
    message: str, taught: tuple[str, str], left_out: bool
) -> None:
    assert leaves_out_the_owner(message, *taught) == left_out


@pytest.mark.parametrize(
    ("message", "told", "another"),
    [
        ("What is my dog called?", "my neighbour's new dog is called Bella", True),
        ("Who is my doctor?", "my cat's new doctor is Dr Vet", True),
        ("What is my cat's doctor called?", "my cat's new doctor is Dr Vet", False),
        ("What is my sister called?", "my sister's name is Ingrid", False),
        ("What is my dog called?", "what's my dog called Rex", False),
        ("What is my dog called?", "Rex's my dog", False),
        ("What do I eat?", "my cat eats fish now", True),
        ("What does my cat eat?", "my cat eats fish now", False),
        ("Where was I born?", "my son was born in Leeds", True),
        ("Which trade am I in?", "my job is welding", False),
        ("Do I like fish?", "my cat and I like fish", False),
        ("What is my mother called?", "my mother in law is called Ruth", True),
        ("What is my mother called?", "My Mother-in-law is called Ruth", True),
        ("What is my mother-in-law called?", "my mother in law is called Ruth", False),
        ("What is my wife called?", "my ex-wife is called Ann", True),
        ("What is my son called?", "my other son is called Per", True),
        ("What is my wife called?", "my wives' names are long", False),
        ("What is my dog called?", "my neighbours' dog is called Bella", True),
        ("What is the capital of France?", "my cat eats fish", False),
    ],
)
def test_the_owners_words_may_tell_of_another(message: str, told: str, another: bool) -> None:
    assert tells_of_another(message, told) == another


@pytest.mark.parametrize(
    ("message", "told", "named"),
    [
        ("olgas op wat day", "Olga's op is on the 14th of May", True),
        ("When is the op of Olga?", "Olga's op is on the 14th of May", True),
        ("When is the op?", "Olga's op is on the 14th of May", False),
        ("what day is it", "Today's op is on the 14th of May", False),
        ("olga", "my op is on the 14th of May", False),
    ],
)
def test_whose_thing_is_asked_for(message: str, told: str, named: bool) -> None:
    assert asks_of_its_owner(message, told) == named
