"""benchmarks.practising.gsm8k: it asks for its data, and an unfinished way is begun again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchmarks.practising.gsm8k
from benchmarks import BenchOptions
from benchmarks.practising.gsm8k import STAGES, WAYS, run
from engine.errors import ConfigError, DataError


def test_without_data_it_says_how_to_name_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        run(BenchOptions(tmp_path))
    assert "VIDYA_GSM8K=FOLDER" in error.value.next_step


def test_what_was_not_finished_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def stages(_f: Path, _d: Path, way: str, *more: Any) -> Iterator[str]:
        row = more[-1]
        begun.append(way)
        for stage in STAGES:
            if len(begun) == 2 and stage == STAGES[2]:
                raise KeyboardInterrupt
            row["right"].append(0.25)
            row["calls"].append(1.0)
            row["seconds"].append(9)
            yield stage

    monkeypatch.setattr(benchmarks.practising.gsm8k, "_stages", stages)
    monkeypatch.setenv("VIDYA_GSM8K", str(tmp_path))
    options = BenchOptions(tmp_path, out=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run(options)
    written = (tmp_path / "out" / "gsm8k.md").read_text("utf-8")
    assert "25.0 ± 3.1" in written and "VIDYA_GSM8K=FOLDER vidya bench gsm8k" in written
    result = run(options)
    first, second = WAYS
    assert begun == [first, second, second] and len(result["rows"]) == 2
    assert all(len(row["right"]) == len(STAGES) for row in result["rows"])
    monkeypatch.setenv("VIDYA_WARM_UP", "1")
    monkeypatch.setenv("VIDYA_STEPS", "2")
    with pytest.raises(DataError, match="another VIDYA_WARM_UP and with another VIDYA_STEPS;"):
        run(options)


def test_a_run_of_another_seed_keeps_what_was_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = False

    def stages(*more: Any) -> Iterator[str]:
        for stage in STAGES:
            for name in ("right", "calls", "seconds"):
                more[-1][name].append(0.25)
            yield stage
            if not ended:
                raise KeyboardInterrupt

    monkeypatch.setattr(benchmarks.practising.gsm8k, "_stages", stages)
    monkeypatch.setenv("VIDYA_GSM8K", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        run(BenchOptions(tmp_path, out=tmp_path / "out"))
    ended = True
    rows = run(BenchOptions(tmp_path, out=tmp_path / "out", seeds=(1,)))["rows"]
    assert [(row["seed"], len(row["right"])) for row in rows] == [(0, 1), (1, 3), (1, 3)]
    rows = run(BenchOptions(tmp_path, out=tmp_path / "out"))["rows"]
    assert [(row["seed"], len(row["right"])) for row in rows] == [(1, 3), (1, 3), (0, 3), (0, 3)]


@pytest.mark.slow
def test_both_ways_go_through_all_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDYA_GSM8K", raising=False)
    rows = run(BenchOptions(tmp_path, quick=True))["rows"]
    assert [row["way"] for row in rows] == list(WAYS)
    assert all(len(row["right"]) == len(STAGES) and len(row["p"]) == 2 for row in rows)
    assert rows[0]["calls"][0] is not None and rows[1]["calls"][0] is None
