"""`vidya bench recall`: what is asked, and how answers are counted."""

from __future__ import annotations

import pytest

from benchmarks.facts.people_data import read_people
from benchmarks.facts.recall import (
    KINDS,
    UNTAUGHT,
    WORDINGS,
    Heard,
    pairs,
    parts,
    questions,
    shares,
    untold_yes_or_no,
)
from learning.memory.tasks import NOT_KNOWN

FACTS = read_people("tune")[:3]


def said(text: str) -> Heard:
    return Heard(text, 0.5, None, 0.1)


def test_each_fact_is_asked_for_in_all_ways() -> None:
    asked = questions(FACTS)
    for fact in FACTS:
        kinds = [q.kind for q in asked if q.fact == fact]
        assert set(kinds) == {*KINDS, *UNTAUGHT}
        assert kinds.count("paraphrase") == kinds.count("rewording") == WORDINGS


def test_right_is_what_holds_the_key_of_what_was_asked() -> None:
    fact = FACTS[0]
    asked = {q.kind: q for q in questions([fact])}
    assert asked["rewording"].right(fact.answer) and not asked["rewording"].right(NOT_KNOWN)
    assert asked["no"].right("No, she is not.") and not asked["no"].right("Yes, she is.")
    both = [(asked["taught"], said(fact.answer)), (asked["taught"], said(NOT_KNOWN))]
    assert shares("taught", both) == {"unknown": 0.5, "right": 0.5}
    both = [(asked["unknown"], said(fact.answer)), (asked["unknown"], said(NOT_KNOWN.upper()))]
    assert shares("unknown", both) == {"unknown": 0.5, "leaks": 0.5}


def test_a_pair_is_right_if_both_answers_are() -> None:
    asked = [q for q in questions(FACTS[:2]) if q.kind in ("yes", "no")]
    rows = [(q, said("Yes." if q.kind == "yes" else "No.")) for q in asked]
    assert pairs(rows) == 1.0
    assert pairs([(asked[0], said("No.")), *rows[1:]]) == 0.5


def test_of_what_was_not_taught_a_yes_or_no_is_asked_too() -> None:
    found = untold_yes_or_no(FACTS)
    assert len(found) == 2 * len(FACTS)
    assert not {one.prompt for fact in FACTS for one in (fact.yes, fact.no)} & set(found)


def test_the_tables_have_both_ways() -> None:
    one = {"asked": 2, "recalled": 0.5}
    way = {"unknown": 0.25, "right": 0.75, "leaks": 0.1}
    kinds = {kind: one | {"off": way, "on": way} for kind in (*KINDS, *UNTAUGHT)}
    talk = {"asked": 40, "recalled": 0.025}
    result = {
        "model": "10m",
        "half": "tune",
        "facts": 2,
        "kinds": kinds,
        "talk": talk,
        "untold": {"asked": 4, "recalled": 0.25},
        "pairs": {"off": 0.0, "on": 0.5},
        "seconds": {"off": 0.1, "on": 0.125},
    }
    text = "\n".join(parts(result))
    assert "2 % had a lesson recalled" in text and "0.100 without, 0.125 with" in text
    assert (
        "0 % off, 50 % on. Of 4 questions for a yes or no" in text and "25 % had a lesson" in text
    )
    assert text.count("in other words | 2 | 50 | 75 | 75 | 25 | 25") == 1
    parts(result | {"seconds": {"off": None, "on": None}})


@pytest.mark.slow
def test_a_quick_run() -> None:
    from pathlib import Path

    from benchmarks import BenchOptions
    from benchmarks.facts.recall import run

    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["facts"] == 1 and set(result["kinds"]) == {*KINDS, *UNTAUGHT}
    assert result["kinds"]["taught"]["on"]["right"] == 1.0
