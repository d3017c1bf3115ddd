"""`vidya bench everyday`: its facts, and what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.facts import everyday
from benchmarks.facts.everyday import ASKED, UNTOLD, parts, read_everyday, run
from engine.errors import DataError


def test_each_fact_holds_its_key_and_no_question_does() -> None:
    facts = read_everyday()
    assert len(facts) == 100
    assert len({text.prompt for fact in facts for _, text in fact.questions}) == 500
    for fact in facts:
        assert [kind for kind, _ in fact.questions] == [*ASKED, *UNTOLD]
        for _, asked in fact.questions:
            assert asked.right(fact.said) and not asked.right(asked.prompt), fact.said


@pytest.mark.parametrize(
    "line", ['{"said": "a"}', '{"said": "a", "asked": ["b"], "key": ["c"]}', "[]"]
)
def test_a_bad_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    file = tmp_path / "everyday.jsonl"
    file.write_text(f"\n{line}\n", "utf-8")
    monkeypatch.setattr(everyday, "EVERYDAY", file)
    with pytest.raises(DataError, match=r"everyday\.jsonl:2"):
        read_everyday()


def test_the_table_has_all_kinds() -> None:
    one = {"said_back": 0.5, "surest": 0.25, "among": 0.75, "alone": 0.3}
    kinds = dict.fromkeys(ASKED | UNTOLD, one)
    result = {"model": "10m", "facts": 2, "seed": 0, "kinds": kinds, "openings": 0.025}
    text = "\n".join(parts(result))
    assert text.count("| 50 | 25 | 75 | 30 |") == 5 and "2 % got something" in text


@pytest.mark.slow
def test_a_quick_run() -> None:
    result = run(BenchOptions(home=Path("/nonexistent"), quick=True))
    assert result["facts"] == 2 and set(result["kinds"]) == {*ASKED, *UNTOLD}
    assert result["kinds"]["plain"]["among"] == 1.0
