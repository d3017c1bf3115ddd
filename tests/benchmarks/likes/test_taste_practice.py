"""Verdicts of `vidya bench taste_practice` on made-up courses; its criteria stand before its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.common.weights import fingerprint_of
from benchmarks.likes import taste_practice
from benchmarks.likes.taste_practice import ARMS
from benchmarks.likes.taste_practice_report import (
    Course,
    alarms_of,
    kept_signs,
    parts,
    verdicts,
)
from learning.maths.alarm import Signs


def point(step: int, worth: float, kl: float = 1.0, length: float = 9.0) -> dict[str, Any]:
    signs = kept_signs(Signs(kl=kl, length=length, right=(True, None, False)))
    return {"step": step, "worth": worth, "paid": 0.5, "signs": signs}


def row(arm: str, seed: int, *points: dict[str, Any]) -> dict[str, Any]:
    book = {"book_before": 1.0, "book_after": 0.99, "used": True, "seconds": 9.0}
    kl_reward = next(one.kl for one in ARMS if one.name == arm)
    return {"arm": arm, "seed": seed, "kl_reward": kl_reward, "points": list(points), **book}


def test_what_is_kept_is_the_save_point_before_the_stop() -> None:
    course = Course.of([point(0, 0.0), point(5, 1.0), point(10, 0.9, kl=11.0), point(15, 0.4)])
    assert (course.gain, course.most, course.fell) == (0.4, 1.0, 15)
    assert (course.stopped, course.kept) == (10, 1.0)


def test_a_run_without_a_stop_keeps_its_end() -> None:
    course = Course.of([point(0, 0.0), point(5, 1.0), point(10, 0.6)])
    assert (course.fell, course.stopped, course.kept) == (None, None, 0.6)


def test_verdicts_compare_taste_with_gold_of_the_same_seed() -> None:
    rows = [
        row("taste", 0, point(0, 0.0), point(40, 1.5)),
        row("gold", 0, point(0, 0.0), point(40, 2.0)),
        row("spurious", 0, point(0, 0.0), point(5, 1.0, kl=11.0), point(10, 0.2)),
    ]
    words = " ".join(verdicts(rows))
    assert "taste gains 1.50 deviations (at least 1), 0.75 of gold's" in words
    assert "an alarm before the fall in 1 of 1 runs" in words
    assert "false stops with divergence taken off: 0 of 2" in words


@pytest.mark.parametrize("rows", [[], [row("taste", 0, point(0, 0.0), point(40, 1.5))]])
def test_the_criteria_stand_above_the_tables(rows: list[dict[str, Any]]) -> None:
    said = parts({"rows": rows})
    assert "Registered before the run" in said[0] and "| arm |" in "\n".join(said)
    assert {arm.name for arm in ARMS} >= {"taste", "gold", "spurious"}


def test_alarms_are_those_of_today() -> None:
    found = alarms_of([point(0, 0.0), point(5, 0.1), point(10, 0.2, length=18.0)])
    assert [[one.name for one in said] for said in found] == [[], [], ["length"]]


def test_a_run_that_finds_all_rows_asks_the_alarms_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = row("taste", 0, point(0, 0.0), point(5, 0.1, length=18.0))
    old = {"benchmark": "taste_practice", "machine": {}, "rows": [long]}
    (tmp_path / "taste_practice.json").write_text(json.dumps(old))
    (tmp_path / "taste_practice.md").write_text("# Without alarms\n")
    monkeypatch.setattr(taste_practice, "drawn_answers", None)
    monkeypatch.setenv("VIDYA_TASTE_ARMS", "taste")
    result = taste_practice.run(BenchOptions(tmp_path / "home", out=tmp_path))
    assert result["rows"] == old["rows"]
    text = (tmp_path / "taste_practice.md").read_text("utf-8")
    assert "| 18.00 | length (stop) |" in text and "Without alarms" not in text


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, int]] = []

    def practised(bench: taste_practice._Bench, arm: taste_practice.Arm) -> dict[str, Any]:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append((arm.name, bench.seed))
        return row(arm.name, bench.seed, point(0, 0.0))

    monkeypatch.setattr(taste_practice._Bench, "practised", practised)
    monkeypatch.setattr(taste_practice, "drawn_answers", lambda *_: {})
    monkeypatch.setenv("VIDYA_TASTE_ARMS", "taste,gold")
    options = BenchOptions(tmp_path / "home", seeds=(0, 1), out=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        taste_practice.run(options)
    assert made == [("taste", 0), ("gold", 0)]
    made.clear()
    rows = taste_practice.run(options)["rows"]
    assert made == [("taste", 1), ("gold", 1)] and len(rows) == 4
    assert {row["fingerprint"] for row in rows} == {fingerprint_of(options)}


def test_an_owner_of_long_answers_counts_among_the_runs_that_must_not_be_stopped() -> None:
    said = verdicts([row("at length", 0, point(0, 0.0), point(5, 1.0, length=18.0))])
    assert "(iv) false stops with divergence taken off: 1 of 1 (1 of 10)." in said
