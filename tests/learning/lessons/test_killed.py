"""`kill -9` at every save and rename, then forgetting: no file of the home contains the lesson."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.learning.conftest import Place

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def kills(*arguments: object) -> list[dict[str, Any]]:
    """What the benchmark's driver says, a row a kill."""
    command = [sys.executable, "-m", "benchmarks.crashes.kills_day", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_killed_in_any_save_or_rename_it_starts_again_and_forgets(
    tiny_place: Place, tmp_path: Path
) -> None:
    home, _, journal = tiny_place
    journal.close()
    said = kills(home.path, tmp_path / "c")
    before = [row["before"] for row in said if "before" in row]
    ends = [row for row in said if "status" in row]
    assert [row for row in said if row.get("wrong") or "failed" in row] == []
    assert len(ends) == len(before) + 1 and ends[-1]["status"] == 0, "the last day came to its end"
    assert len(before) > 80
    for what in ("half of model.safetensors", "os.rename", "os.link", "os.remove", "open book.txt"):
        assert any(what in kill for kill in before), what


def test_killed_at_random_moments_one_home_forgets_in_the_end(
    tiny_place: Place, tmp_path: Path
) -> None:
    home, _, journal = tiny_place
    journal.close()
    said = kills(home.path, tmp_path / "c", "10", "0")
    assert len(said) == 10
    assert [row for row in said if row.get("wrong") or "failed" in row] == []
