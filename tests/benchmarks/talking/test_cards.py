"""The benchmark of the other answers, with made-up answers, and once with the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.talking.cards import JUDGE, QUICK, Answered, parts, run, scores
from benchmarks.talking.talk_data import Question
from engine.errors import NotFound


def question(kind: str, text: str) -> Question:
    return Question(text, "opinions", kind, (("user", text),))


def test_scores_are_means_over_the_other_answers() -> None:
    rows = [
        Answered(question("yes_no", "Is it late?"), ("Yes.", "No.", "A cat."), ("No.", "A cat.")),
        Answered(question("statement", "I am here."), ("Good.", "Good."), ("Good.",)),
    ]
    found = scores(rows, [0.5, 1.5, 2.5])
    assert found["nats"] == 1.5 and found["implausible"] == 2 / 3
    assert found["fits"] == 1 / 2, "no is a yes or no, a cat is none; a remark asks for nothing"
    assert found["own"] == 3 / 2
    assert found["distinct"] == 1.0, "of the first alone: one answer is not different from itself"


def test_pairs_of_words_that_answers_share_count_once() -> None:
    rows = [
        Answered(question("statement", "Hello."), (), texts)
        for texts in (("I like tea.", "I like rain."), ("Tea.", "Rain."))
    ]
    assert scores(rows, [0.5])["distinct"] == (3 / 4 + 1.0) / 2


def test_a_judge_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(JUDGE, "nobody")
    with pytest.raises(NotFound, match="nobody"):
        run(BenchOptions(tmp_path, quick=True))


def test_a_short_run_writes_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JUDGE, "10m")
    out = tmp_path / "out"
    result = run(BenchOptions(tmp_path / "home", quick=True, out=out))
    assert (result["messages"], result["judge"], len(result["runs"])) == (QUICK, "10m", 1)
    assert result["runs"][0]["own"] > 0
    text = (out / "cards.md").read_text("utf-8")
    assert f"{JUDGE}=10m vidya bench cards --quick" in text
    assert all(part in text for part in parts(result))
