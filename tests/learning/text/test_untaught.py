"""Questions without an answer: about the owner's everyday life, and about somebody else's."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

import benchmarks
from benchmarks.facts.people_data import read_people
from learning.text.asking import asks_yes_or_no, is_question
from learning.text.normalise import fold
from learning.text.untaught import (
    QUESTIONS,
    about_another_relation,
    about_somebody_else,
    about_something_else,
    near_questions,
)

DATA = Path(benchmarks.__file__).with_name("data")


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("What is my dog called?", "What is N's dog called?"),
        ("Where do I work?", "Where does N work?"),
        ("How old am I?", "How old is N?"),
        ("Where was I born?", "Where was N born?"),
        ("Who is Zefrin?", None),
        ("Where do I keep my keys?", "Where does N keep their keys?"),
        ("Why are we late?", "Why is N late?"),
        ("What does Declan drive?", "What does N drive?"),
        ("What is your name?", None),
    ],
)
def test_the_same_about_somebody_else(own: str, other: str | None) -> None:
    found = about_somebody_else(own, random.Random(0))
    if other is None:
        assert found is None
    else:
        before, after = other.split("N")
        assert found and found.startswith(before) and found.endswith(after)
        assert found[len(before) : len(found) - len(after)].isalpha()


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ("What is my sister called?", r"What is my (?!sister)[a-z]+ called\?"),
        ("how old is our cat", r"how old is our (dog|parrot|hamster|rabbit|horse)"),
        ("Where is my mum's old bike?", r"Where is my (?!mum)[a-z]+'s old bike\?"),
        ("What is my motto?", None),
        ("What is Greta's dog called?", None),
    ],
)
def test_the_same_about_another_relation(own: str, others: str | None) -> None:
    drawn = [about_another_relation(own, random.Random(seed)) for seed in range(20)]
    if others is None:
        assert set(drawn) == {None}
    else:
        assert len(set(drawn)) > 3 and all(re.fullmatch(others, str(text)) for text in drawn)


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ("What is my dog called?", r"(?!What is my dog).* my dog( now)?\?"),
        ("How old is my favourite mug?", r"(?!How old).* my favourite mug( now| called)?\?"),
        ("Which insect am I scared of?", r"Which (?!insect)[a-z]+ am I scared of\?"),
        ("what do i drink at parties", r"what do i drink at (?!parties)[A-Za-z ]+"),
        ("Do I smoke?", None),
    ],
)
def test_something_else_about_the_same(own: str, others: str | None) -> None:
    drawn = [about_something_else(own, random.Random(seed)) for seed in range(30)]
    if others is None:
        assert set(drawn) == {None}
    else:
        assert len(set(drawn)) > 2 and all(re.fullmatch(others, str(text)) for text in drawn)


def test_questions_near_a_question_are_of_all_kinds_and_never_itself() -> None:
    found = near_questions("What is my dog called?", random.Random(0), 6)
    assert len({fold(text) for text in found}) == 6 and "What is my dog called?" not in found
    assert sum(text.endswith("'s dog called?") for text in found) <= 3
    assert near_questions("what's the door code", random.Random(0), 6) == []
    assert near_questions("hello", random.Random(0), 6) == []


def test_they_are_questions_that_no_benchmark_asks() -> None:
    assert len(QUESTIONS) > 60 and all(map(is_question, QUESTIONS))
    asked = set()
    for path in DATA.glob("lessons*.jsonl"):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            asked |= {row["prompt"], row.get("paraphrase", ""), *row.get("rewordings", ())}
    for fact in read_people("tune"):
        asked |= {fact.prompt, *fact.rewordings, *fact.paraphrases, fact.unknown, fact.neighbour}
    assert not {fold(text) for text in asked} & {fold(text) for text in QUESTIONS}


def test_what_is_answered_by_yes_or_no() -> None:
    assert asks_yes_or_no("Is my sister called Astrid?") and asks_yes_or_no("do I eat meat")
    assert not asks_yes_or_no("Do you know what my sister is called?")
    assert not asks_yes_or_no("What is my sister called?")
