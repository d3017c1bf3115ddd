"""`kill -9` in every save and rename, then forgetting: no file of the home holds what was taught."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.learning.conftest import Place

ROOT = Path(__file__).parents[2]


def test_killed_in_any_save_or_rename_it_starts_again_and_forgets(
    tiny_place: Place, tmp_path: Path
) -> None:
    home, _, journal = tiny_place
    journal.close()
    command = [sys.executable, "-m", "tests.learning.killed", str(home.path), str(tmp_path / "c")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    kills = [row["before"] for row in said if "before" in row]
    ends = [row for row in said if "status" in row]
    assert [row for row in said if row.get("wrong") or "failed" in row] == []
    assert len(ends) == len(kills) + 1 and ends[-1]["status"] == 0, "the last day came to its end"
    assert len(kills) > 80
    for what in ("half of model.safetensors", "os.rename", "os.link", "os.remove", "open book.txt"):
        assert any(what in kill for kill in kills), what
