"""Signals at moments when an exception would be lost, or shown as a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.signals import heed_signals
from vidya_tui.worker.environment import MEMORY

ROOT = Path(__file__).parents[2]


def interrupted(process: subprocess.CompletedProcess[str]) -> bool:
    return (process.returncode, process.stdout, process.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_while_the_first_modules_are_imported_shows_no_traceback() -> None:
    code = """
import runpy, signal, sys

class Presses:
    def find_spec(self, name, path, target=None):
        if name == "engine":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Presses())
runpy.run_module("vidya_tui", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        preexec_fn=heed_signals,
        check=False,
    )
    assert interrupted(done), done


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_is_not_lost_in_an_import_of_torch_that_swallows_exceptions(
    tmp_path: Path, number: str
) -> None:
    torch = tmp_path / "lib" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text(
        "import signal\n"
        f"try:\n    signal.raise_signal(signal.{number})\n"
        "except BaseException:\n    pass\n"
        "raise ImportError('went on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "vidya_tui", "ask", "hello", "--home", str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{torch.parent}{os.pathsep}{ROOT}"},
        preexec_fn=heed_signals,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert interrupted(done), done


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_waits_while_a_learning_command_starts_python_again(
    tmp_path: Path, number: str
) -> None:
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    env.pop(MEMORY[0], None)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\n"
        f"if {MEMORY[0]!r} in os.environ:\n"
        f"    signal.raise_signal(signal.{number})\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "vidya_tui", "teach", "--file", "-", "--home", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        env=env,
        preexec_fn=heed_signals,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert interrupted(done), done
