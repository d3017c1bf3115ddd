"""`vidya bench said_and_taught`: a quick run, and its table."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts.offers import ASKED
from benchmarks.facts.said_and_taught import CHANGED, parts, run


def test_the_table_has_all_kinds() -> None:
    one = {"asked": 2, "offered": 0.5, "own": 0.25}
    one |= {"off": {"surest": 0.26, "among": 0.3}, "on": {"surest": 0.27, "among": 0.9}}
    result = {"model": "10m", "half": "tune", "facts": 2, "kinds": dict.fromkeys(ASKED, one)}
    result |= {"talk": {"asked": 40, "offered": 0.05}}
    change = {"asked": 3, "before": 0.01, "surest": 0.61, "among": 0.71}
    change |= {"unchanged": {"asked": 7, "before": 0.97, "surest": 0.96}}
    result |= {"changed": dict.fromkeys(CHANGED, change)}
    text = "\n".join(parts(result))
    assert text.count("| 3 | 1 | 61 | 71 | 7 | 97 | 96 |") == len(CHANGED)
    assert text.count("| 2 | 25 | 30 | 90 | 26 | 27 |") == len(ASKED)
    assert "5 % got an offered" in text


@pytest.mark.slow
def test_a_quick_run() -> None:
    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["facts"] == 1 and set(result["kinds"]) == set(ASKED)
    assert result["kinds"]["taught"]["on"]["surest"] == 1.0
    assert set(result["changed"]) == set(CHANGED)
