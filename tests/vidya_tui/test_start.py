"""vidya_tui.start: opens the app in a terminal, and the line mode otherwise."""

from __future__ import annotations

import io

import pytest

from vidya_tui.start import _paintable


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("term", "app"),
    [
        ("xterm-256color", True),
        ("vt100", True),
        ("tmux", True),
        ("dumb", False),
        ("unknown", False),
    ],
)
def test_a_terminal_that_cannot_move_its_cursor_gets_lines_and_is_told(
    term: str, app: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    for name, stream in (("stdin", Tty()), ("stdout", Tty()), ("stderr", said)):
        monkeypatch.setattr(f"sys.{name}", stream)
    monkeypatch.setenv("TERM", term)
    assert _paintable() is app
    assert ("line by line" in said.getvalue()) is not app


def test_a_pipe_gets_lines_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    for name, stream in (("stdin", io.StringIO()), ("stdout", Tty()), ("stderr", said)):
        monkeypatch.setattr(f"sys.{name}", stream)
    monkeypatch.setenv("TERM", "xterm")
    assert not _paintable() and said.getvalue() == ""
