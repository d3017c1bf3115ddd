"""Questions without an answer: about the owner's everyday life, and about somebody else's."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import benchmarks
from benchmarks.facts.people_data import read_people
from learning.text.asking import asks_yes_or_no, is_question
from learning.text.normalise import fold
from learning.text.untaught import QUESTIONS, about_somebody_else

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
