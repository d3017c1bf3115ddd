"""The benchmark of taught facts after unjudged inventions."""

from __future__ import annotations

import random

from benchmarks.facts.inventions import (
    ARMS,
    INVENTIONS,
    LESSONS,
    UNTAUGHT,
    contradictions,
    judged,
    parts,
    read_facts,
)
from learning.text.normalise import fold


def test_every_lesson_has_an_invention_of_its_own() -> None:
    facts = read_facts()
    assert len(facts) == LESSONS == len({fact.invention for fact in facts})
    assert not any(judged(fact, [fact.invention])[0] for fact in facts)
    assert len(UNTAUGHT) == INVENTIONS
    assert not {fold(q) for q in UNTAUGHT} & {fold(fact.question) for fact in facts}


def test_ten_inventions_of_which_two_are_against_what_is_asked() -> None:
    facts = read_facts()
    said = contradictions(facts, facts[3], random.Random(0))
    assert len(said) == INVENTIONS
    own = {(facts[3].question, facts[3].invention), (facts[3].again, facts[3].invention)}
    assert own <= set(said)
    assert len({answer for _, answer in said}) == INVENTIONS - 1
    assert len(contradictions(facts[:2], facts[0], random.Random(0))) == 3


def test_right_is_what_says_exactly_what_was_taught() -> None:
    (fact,) = read_facts(1)
    assert judged(fact, ["your name is  Ilse .", "Your name is Ilse", "Ilse."]) == [
        *(True, False, False)
    ]


def test_the_table_has_a_line_for_each_way_of_asking() -> None:
    run = {arm: {"first": 1.0, "any": 1.0, "again": 0.5} for arm in ARMS}
    text = "\n".join(parts({"lessons": 20, "runs": [run | {"inventions": [("Who?", "Me.")]}]}))
    assert all(f"| {words} | 100.0 | 100.0 | 50.0 |" in text for words in ARMS.values())
    assert "- Who? \u2192 Me." in text
