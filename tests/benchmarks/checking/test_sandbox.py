"""`vidya bench sandbox`: it runs, and reports a hostile program that escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import BenchOptions, find
from benchmarks.checking import sandbox

pytestmark = pytest.mark.slow


def test_it_runs_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = ["empty", "sleep", "equal to everything", "a daemon"]
    programs = {name: sandbox.PROGRAMS[name] for name in some}
    programs["honest, as if it had got through"] = "def solve(n): return 2 * n"
    names = [name for name in programs for _ in range(8)]
    monkeypatch.setattr(sandbox, "PROGRAMS", {f"{n}/{i}": programs[n] for i, n in enumerate(names)})
    monkeypatch.setattr(sandbox, "SLOW", {f"sleep/{i}": "" for i in range(len(names))})
    result = find("sandbox")(BenchOptions(home=tmp_path, quick=True, out=tmp_path / "out"))
    assert result["checks"]["own"]["passed"] == result["checks"]["own"]["count"] == 20
    assert result["hostile"]["count"] == 5
    assert len(result["hostile"]["passed"]) == 1
    assert result["hostile"]["processes_left"] == 0
    assert result["hostile"]["targets_unharmed"]
    text = (tmp_path / "out" / "sandbox.md").read_text("utf-8")
    assert "5 hostile programs" in text and "1 passed" in text
