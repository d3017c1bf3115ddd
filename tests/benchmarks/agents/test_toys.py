"""benchmarks.agents.toys: the quick run has every figure and every cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions
from benchmarks.agents.toys import BANDITS, WALK, run
from benchmarks.agents.toys_cross import LEARNERS, WORLDS


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path) -> None:
    result = run(BenchOptions(tmp_path / "home", quick=True, out=tmp_path / "out"))
    assert len(result["cells"]) == len(LEARNERS) * len(WORLDS)
    assert all(cell["met"] for cell in result["cells"]), result["cells"]
    names = [figure["name"] for figure in result["figures"]]
    assert len(names) == 2 * len(BANDITS) + 2 + len(WALK) + 2 + 2 + 2
    bandits = [f for f in result["figures"] if f["part"] == "bandit"]
    assert all(figure["met"] for figure in bandits), bandits
    text = (tmp_path / "out" / "toys.md").read_text()
    for learner in LEARNERS:
        assert f"| {learner} |" in text
