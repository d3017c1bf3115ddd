"""learning.text.kinds.recognise: a question's kind, and the other ways to ask it."""

from __future__ import annotations

import random
import re

import pytest

from learning.text.kinds.recognise import (
    Recognised,
    asked_as,
    asks_for_another,
    asks_the_same,
    recognise,
)
from learning.text.kinds.relations import OWNER, Filling, SlotValue, kinds, listed_values
from learning.text.normalise import fold


def _only(question: str) -> Recognised:
    (found,) = recognise(question)
    return found


def _all_ways(question: str) -> list[str]:
    return asked_as(question, random.Random(0), 1000)


@pytest.mark.parametrize(
    ("question", "kind", "about", "slots"),
    [
        ("What do I do for a living?", "job", "", {}),
        ("what's my brother's job", "job", "brother", {}),
        ("WHAT'S MY BROTHER'S JOB?!", "job", "BROTHER", {}),
        ("What is my brother\u2019s job?", "job", "brother", {}),
        ("What is my \N{DOG} called?", "thing_name", "", {"K": "\N{DOG}"}),
        ("Where is my (hat?", "thing_place", "", {"K": "hat"}),
        ("What does Fergal work as?", "job", "Fergal", {}),
        ("Where does our ex-wife live?", "lives_in", "ex-wife", {}),
        ("What is my name ?", "own_name", "", {}),
        ("What's my brothers job?", "job", "brother", {}),
        ("What is my headless dog's name?", "thing_name", "", {"K": "headless dog"}),
        ("Where is my home?", "lives_in", "", {}),  # and a line "Where is my {K}?"
        ("what's wrong with my health", "illness", "", {}),
        ("What is C++?", "what_is_wide", "", {"K": "C++"}),
        ("Where is my hat (the red one)?", "thing_place", "", {"K": "hat (the red one)"}),
        ("What is the code of my safe?", "code", "", {"K": "safe"}),
        ("What is the capital of New Zealand?", "capital_of", "", {"K": "New Zealand"}),
        ("How many legs does an ant have?", "count_has", "", {"K": "legs", "J": "an ant"}),
        ("What is an elephant?", "thing_a", "", {"K": "elephant"}),
        ("tell me a joke, please", "tell_joke", "", {}),
    ],
)
def test_a_question_of_a_known_form_is_recognised(
    question: str, kind: str, about: str, slots: dict[str, str]
) -> None:
    found = _only(question)
    assert (found.relation.name, found.person.text) == (kind, about)
    assert {letter: value.text for letter, value in found.slots.items()} == slots


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "Blorp.",
        "what is anna's job",
        "Where does the water come from my well for?",
        "What's odd about our well?",
        "So I went to the market and they had no apples left at all.",
        "my " * 5000,
        "what is " * 16,
        "What is my {K} called?",
        "Where does {who} live?",
        "What is <do> called?",
        "What is " + "a" * 1000 + "?",
        "What is the boss' name?",
        "When is Lars' birthday?",
        "What is my parents' address?",
        "What is my business address?",
        "What is my business name?",
        "What is my boss job?",
        "Where is my dog going?",
        "Where is the shop located?",
        "best teapot?",
        "Blorp died.",
    ],
)
def test_what_has_no_known_form_is_left_alone(question: str) -> None:
    assert recognise(question) == [] and asked_as(question, random.Random(0), 8) == []


def test_a_question_about_the_assistant_stays_one() -> None:
    found = _only("When is your birthday?")
    assert found.told and found.person == OWNER
    ways = _all_ways("When is your birthday?")
    assert ways and all({"you", "your"} & {*fold(way).split()} for way in ways)
    assert not any({"i", "my", "me"} & {*fold(way).split()} for way in ways)


def test_every_way_names_what_the_question_names() -> None:
    for way in _all_ways("What is the code of my bicycle lock?"):
        assert "bicycle lock" in way.casefold()
    for way in _all_ways("How much do I owe Anna?"):
        assert "anna" in way.casefold()
    for way in _all_ways("Where does Anna live?"):
        assert "anna" in way.casefold() and not {"i", "my", "me"} & {*fold(way).split()}


def test_things_and_descriptions_stand_in_sentences_as_english_has_them() -> None:
    ways = [fold(way) for way in _all_ways("Where is my teapot?")]
    things = [way for way in ways if "teapot" in way]
    assert len(things) > 6 and all(re.search(r"\b(my|the) teapots?\b", way) for way in things)
    jobs = [way.casefold() for way in _all_ways("What is my sister's job?")]
    assert any("the girl i grew up with" in way for way in jobs)
    assert not any("grew up with's" in way for way in jobs)


def test_a_description_that_fits_two_relatives_is_not_used() -> None:
    ways = {fold(way) for way in _all_ways("What is my sister called?")}
    assert any("girl i grew up with" in way for way in ways)
    assert not any("sibling" in way for way in ways), "a brother is one too"


def test_nobody_is_called_he_or_she_by_guess() -> None:
    ways = [fold(way).split() for way in _all_ways("What does Kim do for a living?")]
    assert len(ways) > 10 and not any({"he", "she", "his", "her", "him"} & {*way} for way in ways)


def test_several_things_are_and_one_is() -> None:
    for question, wrong in (("Where are my glasses?", "is my"), ("Where is my hat?", "are my")):
        assert _all_ways(question) and not any(wrong in way for way in _all_ways(question))


@pytest.mark.parametrize("thing", ["an hour", "an MRI", "an umbrella", "a UFO", "a unicorn"])
def test_a_thing_keeps_its_article(thing: str) -> None:
    ways = [way.casefold() for way in _all_ways(f"What is {thing}?")]
    article, noun = thing.casefold().split()
    found = {
        words[words.index(noun) - 1] for words in map(str.split, map(fold, ways)) if noun in words
    }
    assert len(ways) > 10 and article in found and not ({"a", "an"} - {article}) & found


def test_ways_are_other_ways_each_once_and_as_many_as_asked() -> None:
    question = "What do I do for a living?"
    ways = _all_ways(question)
    folded = [fold(way) for way in ways]
    assert len(ways) > 15 and len({*folded}) == len(ways) and fold(question) not in folded
    few = asked_as(question, random.Random(3), 5)
    assert len(few) == 5 == len({*few}) and few == asked_as(question, random.Random(3), 5)
    assert few != asked_as(question, random.Random(4), 5)


def test_every_line_is_recognised_as_of_its_kind_or_a_narrower_one() -> None:
    rng, missed, others, asked = random.Random(0), [], 0, 0
    for relation in kinds():
        slots = {
            letter: rng.choice(listed_values()[group])
            if group in listed_values()
            else SlotValue("teapot")
            for letter, group in relation.slots.items()
            if letter != "X"
        }
        if any("{" in value.text or "<" in value.text for value in slots.values()):
            continue  # such values have blanks themselves
        for line in relation.lines["q"]:
            text = Filling(relation, OWNER, slots, rng).say(line)
            found = {one.relation.name for one in recognise(text)}
            asked, others = asked + 1, others + (relation.name not in found)
            if not found:
                missed.append((relation.name, text))
    assert asked > 5000 and len(missed) < 0.005 * asked, missed
    assert others < 0.02 * asked


def test_two_questions_ask_for_the_same_or_for_something_else_or_nobody_knows() -> None:
    job = "What does my sister do for a living?"
    for other in ("Where does my sister live?", "When is my sister's birthday?", "What is my job?"):
        assert asks_for_another(job, other) and asks_for_another(other, job), other
        assert not asks_the_same(job, other)
    same = "what's my sister's profession"
    assert asks_the_same(job, same) and not asks_for_another(job, same)
    for unknown in ("my sister and her living, how is that again", ""):
        assert not asks_the_same(job, unknown) and not asks_for_another(job, unknown)
    assert not asks_the_same("", "")
    ingrid = "What does Ingrid do for a living?"
    assert not asks_the_same(job, ingrid) and not asks_for_another(job, ingrid), "she may be Ingrid"
    assert asks_for_another("What is my job?", ingrid)
    cat, dog = "What is my cat called?", "What is my dog called?"
    assert asks_for_another(cat, dog)
