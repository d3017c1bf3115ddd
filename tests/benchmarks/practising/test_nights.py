"""benchmarks.practising.nights: a short night with an interruption of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.practising.nights import KINDS, QUICK, TEN, THREE, run


def test_interruptions_are_divided_among_the_nights() -> None:
    nights = [THREE.kinds(night) for night in range(THREE.nights)]
    assert [len(kinds) for kinds in nights] == [6, 7, 7]
    assert all(set(kinds) == set(KINDS) for kinds in nights)
    assert TEN.kinds(0) == [] and QUICK.kinds(0) == list(KINDS)


@pytest.mark.slow
def test_a_night_is_interrupted_and_loses_nothing(tmp_path: Path) -> None:
    options = BenchOptions(tmp_path, quick=True, out=tmp_path / "out")
    before, after = run(options)["rows"]
    assert before["night"] == 0 and after["interruptions"] == list(KINDS)
    assert after["faults"] == [] and after["taught"] == after["said"] == 1
    assert "Held out, syllogism" in after["told"]
    assert len(run(options)["rows"]) == 2, "a night that is there is not repeated"
    assert "| 0 | 1 |" in (tmp_path / "out" / "nights.md").read_text("utf-8")
