"""`vidya bench mentions`: what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts.mentions import ASKED, parts, run, says_back
from benchmarks.facts.people_data import read_people
from benchmarks.facts.recall import Heard
from learning.text.mention import said_back


def test_the_fact_is_told_from_others() -> None:
    fact, other = read_people("tune")[:2]
    texts = ("I do not know.", said_back(fact.said))
    heard = Heard(texts[0], 0.5, None, 0.1, texts)
    assert says_back(fact, heard) and not says_back(other, heard)


def test_the_table_has_all_kinds() -> None:
    one = {"asked": 2, "said_back": 0.5, "own": 0.25}
    one |= {"off": {"surest": 0.26, "among": 0.3}, "on": {"surest": 0.27, "among": 0.9}}
    result = {"model": "10m", "half": "tune", "facts": 2, "kinds": dict.fromkeys(ASKED, one)}
    single = {"said_back": 0.44, "off": 0.02, "on": 0.42}
    result |= {"alone": {"kinds": dict.fromkeys(ASKED, single), "talk": 0.03}}
    result |= {"talk": {"asked": 40, "said_back": 0.05}, "seconds": {"off": 0.1, "on": 0.125}}
    text = "\n".join(parts(result))
    assert text.count("| 2 | 50 | 25 | 30 | 90 | 26 | 27 |") == len(ASKED)
    assert text.count("| 44 | 2 | 42 |") == len(ASKED) and "openings 3 % got" in text
    assert "5 % got something said back" in text and "0.100 without, 0.125 with" in text


@pytest.mark.slow
def test_a_quick_run() -> None:
    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["facts"] == 1 and set(result["kinds"]) == set(ASKED)
    assert result["kinds"]["taught"]["own"] == 1.0
    assert result["alone"]["kinds"]["taught"] == {"said_back": 1.0, "off": 0.0, "on": 1.0}
