from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks import BenchOptions
from benchmarks.models import shapes
from benchmarks.models.shapes import BEFORE, OURS, PEER, environment_of, measure, parts, run
from benchmarks.models.shapes_engines import SHAPES, batches_of

NOWHERE = Path("/nonexistent")


class Fake:
    """A worker that takes as long as it is told."""

    missing: str | None = None

    def __init__(self, seconds: list[float]) -> None:
        self._seconds = iter(seconds)

    def ask(self, *, work: str, seed: int, batches: int) -> dict[str, Any]:
        return {"seconds": next(self._seconds), "tokens": 100, "peak_mb": 5.0}


class Absent:
    missing = "it is not installed"


def test_ratios_are_of_the_same_round_and_the_first_is_not_counted() -> None:
    workers: Any = {OURS: Fake([9, 1, 2, 3]), BEFORE: Fake([9, 3, 4, 9]), PEER: Absent()}
    ours, before, peer = measure(workers, "10m", "learn", 4, 10, BenchOptions(NOWHERE))
    assert (ours["milliseconds"], ours["times"]) == (200.0, 3.0)
    assert (before["milliseconds"], before["times"]) == (400.0, 1.0)
    assert peer["missing"] == Absent.missing
    text = "\n".join(parts([ours, before, peer]))
    assert "200.0" in text and "3.00" in text and Absent.missing in text


def test_all_programs_get_the_same_batches() -> None:
    random.seed(0)
    drawn = batches_of("learn", 1, 50)
    random.seed(1)
    assert drawn == batches_of("learn", 1, 50) != batches_of("learn", 2, 50)
    (fewest, most), (shortest, longest) = SHAPES["learn"]
    assert all(fewest <= rows <= most and shortest <= t <= longest for rows, t in drawn)


def test_as_it_was_before_few_kernels_are_kept() -> None:
    assert environment_of(BEFORE)["LRU_CACHE_CAPACITY"] == "64"
    assert environment_of(OURS)["LRU_CACHE_CAPACITY"] != "64"
    assert environment_of(OURS)["OMP_NUM_THREADS"] == "1"


@pytest.mark.slow
def test_a_quick_run(tmp_path: Any) -> None:
    result = run(BenchOptions(NOWHERE, quick=True, out=tmp_path))
    assert {(row["program"], row["work"]) for row in result["rows"]} == {
        (program, work) for program in (OURS, BEFORE, PEER) for work in shapes.WORKS
    }
    assert all("missing" in row or row["milliseconds"] > 0 for row in result["rows"])
    assert "shapes as they come" in (tmp_path / "shapes.md").read_text()
