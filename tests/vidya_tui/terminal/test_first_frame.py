"""vidya_tui.terminal.first_frame: the first frame of the last start, shown while the app is loaded."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from benchmarks.app.app_terminal import HINT
from benchmarks.app.screen import TerminalScreen
from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.app.typist import prompt_text
from learning.home import Home
from vidya_tui.terminal import first_frame

ROOT = Path(__file__).resolve().parents[3]
Captured = pytest.CaptureFixture[str]
SLOW = """
import os, sys
if "vidya_tui.worker.main" not in sys.orig_argv:
    class Waits:
        "Textual is not found before the file is there."
        def find_spec(self, name, path=None, target=None):
            if name == "textual":
                import time
                while not os.path.exists(os.environ["GO_ON"]):
                    time.sleep(0.01)
    sys.meta_path.insert(0, Waits())
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def painted(home: Home, capsys: Captured) -> str:
    with first_frame.shown(home):
        text = capsys.readouterr().out
    return text


def test_what_was_kept_is_painted_at_the_next_start(home: Home, capsys: Captured) -> None:
    assert painted(home, capsys) == ""
    first_frame.keep(home, "a frame\nof two lines")
    assert painted(home, capsys) == first_frame.ENTER + "a frame\nof two lines"


def test_the_terminal_is_as_before_where_the_app_does_not_come(
    home: Home, capsys: Captured
) -> None:
    first_frame.keep(home, "frame")
    with pytest.raises(KeyboardInterrupt), first_frame.shown(home):
        raise KeyboardInterrupt
    assert capsys.readouterr().out.endswith(first_frame.LEAVE)


def test_the_app_gives_the_screen_back_itself(home: Home, capsys: Captured) -> None:
    first_frame.keep(home, "frame")
    with first_frame.shown(home):
        first_frame.taken_over()
    assert first_frame.LEAVE not in capsys.readouterr().out


@pytest.mark.parametrize("cut", ["text", "\x1b", "\x1b[", "\x1b[38;2;1", "\x1b]0;a title"])
def test_a_frame_cut_anywhere_leaves_the_screen(cut: str) -> None:
    screen = TerminalScreen(40, 3)
    screen.feed((first_frame.ENTER + "frame" + cut).encode())
    screen.feed((first_frame.LEAVE + "interrupted").encode())
    assert screen.text().strip() == "interrupted"


@pytest.mark.parametrize("other", ["size", "settings", "terminal", "version"])
def test_another_look_is_not_painted(
    home: Home, capsys: Captured, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    first_frame.keep(home, "frame")
    if other == "size":
        monkeypatch.setenv("COLUMNS", "133")
    elif other == "settings":
        home.settings_path.write_text('theme = "vidya-light"\n')
    elif other == "terminal":
        monkeypatch.setenv("COLORTERM", "truecolor" * 2)
    else:
        monkeypatch.setattr(first_frame, "__version__", "0")
    assert painted(home, capsys) == ""


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"no mark", None])
def test_a_file_that_is_no_frame_is_passed_over(
    home: Home, capsys: Captured, content: bytes | None
) -> None:
    if content is None:
        home.first_frame_path.mkdir()
    else:
        home.first_frame_path.write_bytes(content)
    assert painted(home, capsys) == ""
    first_frame.keep(home, "frame")  # and says nothing where it cannot be written
    assert (painted(home, capsys) == "") == (content is None)


@pytest.fixture
def loading(home: Home, tmp_path: Path) -> Path:
    """While this file is missing, a start of the app does not come to load Textual."""
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    return tmp_path / "go_on"


def start(home: Home, loading: Path) -> Terminal:
    path = os.pathsep.join([str(loading.parent), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": path, "GO_ON": str(loading)}
    return Terminal([sys.executable, "-m", "vidya_tui", "--home", str(home.path)], env=env)


def first_start(home: Home, loading: Path) -> str:
    """Types and leaves; the frame that is kept then."""
    loading.touch()
    with start(home, loading) as terminal:
        terminal.wait(lambda: terminal.sees(HINT), 60, "no prompt")
        terminal.wait(home.first_frame_path.exists, 60, "the frame was not kept")
        terminal.press("secret words")
        terminal.wait(lambda: prompt_text(terminal) == "secret words", 60, "not typed")
        terminal.press("\x15\x11")
        with pytest.raises(TerminalError, match="ended with status 0"):
            terminal.wait(lambda: False, 60, "it did not leave")
    loading.unlink()
    return home.first_frame_path.read_text()


@pytest.mark.slow
def test_it_stands_before_textual_is_loaded_and_keys_are_kept(home: Home, loading: Path) -> None:
    first = first_start(home, loading)
    with start(home, loading) as terminal:
        terminal.wait(lambda: terminal.sees(HINT), 60, "the kept frame was not painted")
        terminal.press("typed early")
        terminal.rest(0.2)
        assert not terminal.sees("typed early")
        loading.touch()
        terminal.wait(lambda: prompt_text(terminal) == "typed early", 60, "keys were lost")
    assert home.first_frame_path.read_text() == first
    assert "secret" not in first


@pytest.mark.slow
def test_who_ends_it_meanwhile_has_the_terminal_back(home: Home, loading: Path) -> None:
    first_start(home, loading)
    with start(home, loading) as terminal:
        terminal.wait(lambda: terminal.sees(HINT), 60, "the kept frame was not painted")
        terminal.process.send_signal(signal.SIGTERM)
        with pytest.raises(TerminalError, match="ended with status 130"):
            terminal.wait(lambda: False, 60, "it did not end")
        assert not terminal.sees(HINT)
        assert terminal.sees("interrupted")
