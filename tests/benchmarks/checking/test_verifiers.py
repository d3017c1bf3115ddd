"""The benchmark of the verifiers: its own cases are what they say they are."""

from __future__ import annotations

from pathlib import Path

from benchmarks import BenchOptions
from benchmarks.checking import verifiers
from benchmarks.checking.verifiers import Speed


def test_the_answers_are_half_right_and_judged_as_they_are() -> None:
    cases = verifiers.sums(600, 1)
    assert sum(right for _, _, right in cases) == 300
    assert len({answer for _, answer, _ in cases}) > 550
    assert verifiers.judge("gsm8k", cases) == (600, 0)


def test_a_verifier_that_takes_everything_is_seen() -> None:
    cases = [(truth, truth, False) for truth, _, _ in verifiers.sums(10, 1)]
    assert verifiers.judge("gsm8k", cases) == (0, 0)


def test_the_other_cases_too() -> None:
    for name, cases in (
        ("triviaqa", verifiers.names(200, 1)),
        ("syllogism", verifiers.own("syllogism", 100, 1)),
    ):
        speed = verifiers._in_process(name, cases)
        assert (speed.rightly, speed.failed) == (1.0, 0)


def test_results_are_written(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    speed = Speed("x", 10, 2.0, 1.0, 0)
    for name in ("gsm8k", "_in_process", "_one_task"):
        monkeypatch.setattr(verifiers, name, lambda *_: speed)
    result = verifiers.run(BenchOptions(tmp_path, out=tmp_path, quick=True))
    assert result["benchmark"] == "verifiers" and len(result["verifiers"]) >= 7
    assert "| x | 10 | 2 | 5 | 100.00% | 0 |" in (tmp_path / "verifiers.md").read_text("utf-8")
