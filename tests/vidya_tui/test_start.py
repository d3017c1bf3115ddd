"""vidya_tui.start: opens the app in a terminal, and the line mode otherwise."""

from __future__ import annotations

import io
import signal
from pathlib import Path

import pytest

from vidya_tui.options import Options
from vidya_tui.start import _paintable, open_app


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


def test_asyncio_can_take_ctrl_c_from_the_app(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It replaces Python's own handler alone; by another one a first start was interrupted with the terminal
    in the alternate screen."""
    seen = []

    def run_app(*_: object, **__: object) -> int:
        seen.append(signal.getsignal(signal.SIGINT))
        return 0

    monkeypatch.setattr("vidya_tui.app.app.run_app", run_app)
    monkeypatch.setattr("vidya_tui.start._paintable", lambda: True)
    before = signal.getsignal(signal.SIGINT)
    try:
        for own in (lambda *_: None, signal.SIG_IGN):
            signal.signal(signal.SIGINT, own)
            assert open_app(Options(tmp_path)) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.default_int_handler, signal.SIG_IGN], "a background job ignores ctrl+c"
