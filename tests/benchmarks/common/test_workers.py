from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.common.workers import Worker
from engine.errors import VidyaError

FAKE = """
import os, sys
from benchmarks.common.workers import serve

def make():
    if sys.argv[1] == "absent":
        import a_program_that_is_not_installed
    def do(*, number):
        print("a library talks")
        os.system("echo a program talks")
        if number < 0:
            raise ValueError("a negative number")
        return {"twice": 2 * number, "word": os.environ.get("WORD")}
    return do

serve(make)
"""


@pytest.fixture
def path(tmp_path: Path) -> Iterator[dict[str, str]]:
    (tmp_path / "fake_program.py").write_text(FAKE)
    yield {"PYTHONPATH": str(tmp_path), "WORD": "hello"}


def test_it_answers_each_request_in_its_own_environment(path: dict[str, str]) -> None:
    worker = Worker("fake_program", "there", environment=path)
    assert worker.missing is None
    assert worker.ask(number=4) == {"twice": 8, "word": "hello"}
    assert worker.ask(number=5)["twice"] == 10
    worker.close()


def test_what_is_not_installed_is_named(path: dict[str, str]) -> None:
    worker = Worker("fake_program", "absent", environment=path)
    assert worker.missing is not None
    assert "a_program_that_is_not_installed is not installed" in worker.missing
    assert ".[bench]" in worker.missing
    worker.close()


def test_a_process_that_ends_tells_why(path: dict[str, str]) -> None:
    worker = Worker("fake_program", "there", environment=path)
    with pytest.raises(VidyaError, match="there: its process ended: ValueError: a negative number"):
        worker.ask(number=-1)
    with pytest.raises(VidyaError, match="its process ended"):
        worker.ask(number=1)
    worker.close()
