"""Commands of the README with the model that comes with vidya, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_what_was_taught_in_one_process_is_known_in_the_next(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "VIDYA_HOME": str(tmp_path / "home")}

    def vidya(*words: str) -> str:
        command = [sys.executable, "-m", "vidya_tui", *words]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert vidya("What is my dog called?", "--seed", "1")
    vidya("teach", "--say", "Your dog is called Bruno.", "--seed", "1")
    assert vidya("Who is my hound?", "--seed", "1"), "the lesson is near, and is told apart"
    assert "Your dog is called Bruno." in vidya("What is my dog called?", "--seed", "1")
