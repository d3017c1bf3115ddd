"""`vidya ask`: the output while answers stream, and messages from standard input."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vidya_tui.cli import answers
from vidya_tui.session.candidate import Card

ROOT = Path(__file__).parents[3]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(monkeypatch: pytest.MonkeyPatch, out: io.StringIO, *, as_json: bool = False) -> str:
    """What stands in `out` before the block ends."""
    cards = [Card(1, "[b]one[/b] \x1b[31mre"), Card(2, "two")]
    monkeypatch.setattr(sys, "stdout", out)
    with answers.while_written(as_json) as show:
        show(cards)
        return out.getvalue()


def test_a_terminal_shows_them_while_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = written(monkeypatch, Terminal())
    assert "1. [b]one[/b] \u241b[31mre" in shown and "2. two" in shown
    assert "\x1b[31m" not in shown


def test_nothing_is_shown_early_where_it_could_not_be_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert written(monkeypatch, io.StringIO()) == ""
    assert written(monkeypatch, Terminal(), as_json=True) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert written(monkeypatch, Terminal()) == ""


def read(**given: object) -> subprocess.CompletedProcess[str]:
    code = "from vidya_tui.cli.stdin import message; print(repr(message('hello')))"
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
        **given,  # type: ignore[call-overload]
    )


@pytest.mark.slow
def test_only_pipes_and_files_are_read_unasked(tmp_path: Path) -> None:
    assert read(input="more").stdout == "'hello\\nmore'\n"
    file = tmp_path / "file"
    file.write_text("more\n")
    with file.open() as handle:
        assert read(stdin=handle).stdout == "'hello\\nmore\\n'\n"
    assert read(stdin=subprocess.DEVNULL).stdout == "'hello'\n"
    assert read(preexec_fn=lambda: os.close(0)).stdout == "'hello'\n"


def test_a_pipe_that_stays_silent_is_told() -> None:
    reading, writing = os.pipe()
    code = "from vidya_tui.cli import stdin; stdin.PATIENCE = 0.1; stdin.message('hello')"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=reading, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stderr is not None
        assert "waits for the rest of the message" in process.stderr.readline()
        os.close(reading)
        os.close(writing)
    assert process.returncode == 0
