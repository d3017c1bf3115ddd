"""benchmarks.practising.practice_learning: it practises as the app does, and keeps other options apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import benchmarks.practising.practice_learning as bench
from benchmarks import BenchOptions
from engine.errors import VidyaError
from engine.model import Model
from learning.practice.trained import LowRank


@pytest.mark.slow
def test_a_run_with_options_practises_adapters_and_resumes_only_with_the_same_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []
    trained = bench.trained_weights

    def seen(model: Model, *more: object) -> object:
        found = trained(model, *more)  # type: ignore[arg-type]
        used.append(isinstance(found, LowRank))
        return found

    monkeypatch.setattr(bench, "trained_weights", seen)
    monkeypatch.setenv("VIDYA_TASKS", "chain_sum")
    monkeypatch.setenv("VIDYA_PRACTICE_OPTIONS", "adapter.at=0 warm_up.enough=1")
    options = BenchOptions(tmp_path, out=tmp_path / "out", quick=True)
    (run,) = bench.run(options)["runs"]
    assert used == [True] and run["warm_up_steps"] == 1 and run["accuracy_after"] is not None
    assert bench.run(options)["runs"] == json.loads(json.dumps([run])) and used == [True]
    told = (tmp_path / "out" / "practice_learning.md").read_text("utf-8")
    assert 'VIDYA_PRACTICE_OPTIONS="adapter.at=0 warm_up.enough=1"' in told
    monkeypatch.delenv("VIDYA_PRACTICE_OPTIONS")
    bench.run(options)
    assert used == [True, False], "a run with other options counts for itself"


def test_an_unknown_option_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDYA_PRACTICE_OPTIONS", "speed=9")
    with pytest.raises(VidyaError, match="speed"):
        bench.run(BenchOptions(tmp_path, quick=True))
