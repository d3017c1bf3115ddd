"""Rows that a benchmark keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks import BenchOptions
from benchmarks.common.rows import KeptRows


def test_a_run_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    path = tmp_path / "out" / "rows.jsonl"
    KeptRows(path).add({"arm": "one", "seed": 0, "value": 1.5})
    again = KeptRows(path)
    assert again.rows == [{"arm": "one", "seed": 0, "value": 1.5}]
    assert again.has(arm="one", seed=0) and not again.has(arm="one", seed=1)
    again.add({"arm": "one", "seed": 1, "value": 2.0})
    assert [row["seed"] for row in KeptRows(path).rows] == [0, 1]


def test_a_benchmark_of_a_named_model_has_rows_of_its_own(tmp_path: Path) -> None:
    options = BenchOptions(home=tmp_path, model="other", out=tmp_path)
    KeptRows.of(options, "taste").add({"seed": 0})
    assert (tmp_path / "taste_other_rows.jsonl").exists()
    KeptRows.of(replace(options, quick=True), "taste").add({"seed": 1})
    assert KeptRows.of(replace(options, model=None), "taste").rows == []
    assert KeptRows.of(options, "taste").rows == [{"seed": 0}]


def test_without_a_file_nothing_is_kept() -> None:
    kept = KeptRows(None)
    kept.add({"seed": 0})
    assert kept.has(seed=0) and KeptRows(None).rows == []
