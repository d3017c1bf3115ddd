"""`vidya bench told_apart`: the rules are off in one of two asks, and the table has means."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts.told_apart import ASKED, parts, run, untold
from learning.protocol.records import Lesson, Turn
from learning.teacher.known import Known

SISTER = Lesson("example", (Turn("user", "What is my sister called?"),), "She is called Ingrid.")


def test_without_the_rules_nothing_is_told_apart() -> None:
    known = Known.of((), (SISTER,))

    def told() -> tuple[bool, bool]:
        others = known.of_others("What is Tom's sister called?")
        return bool(others), known.of_other_form("How old is my sister?", SISTER.answer)

    assert told() == (True, True)
    with untold():
        assert told() == (False, False)
    assert told() == (True, True)


def test_the_table_has_means_over_seeds() -> None:
    def row(right: float) -> dict[str, object]:
        ways = {way: {"surest": right, "among": 0.5} for way in ("off", "on")}
        return {"seed": 0, **dict.fromkeys(ASKED, {"asked": 20, **ways})}

    result = {"model": "10m", "half": "tune", "facts": 20, "pause": 5.0}
    text = "\n".join(parts({**result, "rows": [row(0.2), row(0.4)]}))
    assert "2 times 20 facts" in text and "pauses of 5 s" in text
    for words in ASKED.values():
        assert f"| {words} | 40 | 30.0 ± 14.1 | 30.0 ± 14.1 | 50.0 ± 0.0 | 50.0 ± 0.0 |" in text


@pytest.mark.slow
def test_a_quick_run() -> None:
    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["rows"][0]["taught"]["on"]["among"] == 1.0
    assert set(ASKED) < set(result["rows"][0])
