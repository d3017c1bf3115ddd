"""`vidya bench offers`: how answers are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts.offers import ASKED, parts, run, shares
from benchmarks.facts.people_data import read_people
from benchmarks.facts.recall import Heard, questions
from learning.memory.tasks import NOT_KNOWN

FACT = read_people("tune")[0]
ASK = {question.kind: question for question in questions([FACT])}


def said(*texts: str) -> Heard:
    return Heard(texts[0], 0.5, None, 0.1, texts)


def test_the_surest_and_all_five_are_counted() -> None:
    rows = [(ASK["rewording"], said(NOT_KNOWN, FACT.answer)), (ASK["rewording"], said(NOT_KNOWN))]
    assert shares(rows) == {"surest": 0.0, "among": 0.5}
    assert shares([(ASK["unknown"], said(FACT.answer))]) == {"surest": 1.0, "among": 1.0}


def test_the_tables_have_all_kinds() -> None:
    one = {"asked": 2, "offered": 0.5}
    one |= {"off": {"surest": 0.25, "among": 0.3}, "on": {"surest": 0.26, "among": 0.9}}
    result = {
        "model": "10m",
        "half": "tune",
        "facts": 2,
        "kinds": dict.fromkeys(ASKED, one),
        "talk": {"asked": 40, "offered": 0.05},
        "seconds": {"off": 0.1, "on": 0.125},
    }
    text = "\n".join(parts(result))
    assert text.count("in other words | 2 | 50 | 30 | 90 | 25 | 26") == 1
    assert text.count("| 2 | 50 | 30 | 90 | 25 | 26") == len(ASKED)
    assert "5 % got an offer" in text and "0.100 without, 0.125 with" in text


@pytest.mark.slow
def test_a_quick_run() -> None:
    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["facts"] == 1 and set(result["kinds"]) == set(ASKED)
    assert result["kinds"]["taught"]["on"]["among"] == 1.0
