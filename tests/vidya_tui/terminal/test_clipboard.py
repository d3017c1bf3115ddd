"""Copying: to the terminal always, into this computer's clipboard where the owner sits at it; and what
is told is what was done. A folder with another pyperclip stands in for the clipboard.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stage import Stage, play
from vidya_tui.terminal import clipboard

ROOT = Path(__file__).resolve().parents[3]
GOOD = """
import pathlib, sys
FILE = pathlib.Path(__file__).with_name("clip")
def copy(text):
    print("noise")
    print("noise", file=sys.stderr)
    FILE.write_text(text, "utf-8")
def paste():
    return FILE.read_text("utf-8")
"""
DEAF = "def copy(text): pass\ndef paste(): return ''"
FAILS = "def copy(text): raise RuntimeError('no clipboard')"
MISSING = "raise ImportError('pyperclip')"
HANGS = "import time\ndef copy(text): time.sleep(60)"
SENT = "sent to the terminal's clipboard: \u201ctwo answers\u201d, 11 characters"
COPIED = "copied \u201ctwo answers\u201d, 11 characters"
Computer = Callable[[str], Path]


@pytest.fixture
def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computer:
    """The owner sits at it."""

    def sit(module: str) -> Path:
        folder = tmp_path / "other"
        folder.mkdir()
        (folder / "pyperclip.py").write_text(module)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.delenv("SSH_CONNECTION", raising=False)
        monkeypatch.delenv("SSH_TTY", raising=False)
        return folder / "clip"

    return sit


@pytest.mark.parametrize(
    "text",
    ["one", "two\nlines \u65e5\u672c \U0001f642\n", "\u241b[2J " * 50_000],
    ids=["short", "lines", "long"],
)
def test_a_text_is_put_there_whole(computer: Computer, text: str) -> None:
    clip = computer(GOOD)
    assert clipboard.put(text)
    assert clip.read_text("utf-8") == text


@pytest.mark.parametrize("module", [DEAF, FAILS, MISSING])
def test_what_did_not_work_is_known(computer: Computer, module: str) -> None:
    computer(module)
    assert not clipboard.put("one")


def test_it_waits_for_nothing_for_ever(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer(HANGS)
    monkeypatch.setattr(clipboard, "PATIENCE", 0.3)
    begun = time.monotonic()
    assert not clipboard.put("one")
    assert time.monotonic() - begun < 5.0


def test_of_several_the_last_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[str] = []

    def slow(text: str) -> bool:
        time.sleep(0.05)
        there.append(text)
        return True

    monkeypatch.setattr(clipboard, "put", slow)
    board, done = clipboard.Clipboard(), []
    for text in ("one", "two", "three"):
        board.copy(text, lambda text=text: done.append(text))
    end = time.monotonic() + 5.0
    while "three" not in done and time.monotonic() < end:
        time.sleep(0.01)
    assert there[-1] == done[-1] == "three" and "two" not in there


def test_copied_is_told_when_it_is_there(tmp_path: Path, computer: Computer) -> None:
    clip = computer(GOOD)

    async def scenario(stage: Stage) -> None:
        await taught(stage)
        await stage.press("f9")
        await stage.sees(COPIED)
        assert clip.read_text() == stage.app.clipboard == "two answers"
        assert "noise" not in stage.text()

    play(scenario, tmp_path)


@pytest.mark.parametrize(
    "module", [MISSING, *(pytest.param(one, marks=pytest.mark.slow) for one in (DEAF, FAILS))]
)
@pytest.mark.slow
def test_where_only_the_terminal_has_it_that_is_told(
    tmp_path: Path, computer: Computer, module: str
) -> None:
    computer(module)

    async def scenario(stage: Stage) -> None:
        await taught(stage)
        await stage.press("f9")
        await stage.sees(SENT)
        await stage.pilot.pause(0.5)
        assert "copied" not in stage.text() and stage.app.clipboard == "two answers"

    play(scenario, tmp_path)


@pytest.mark.parametrize(
    "name", ["SSH_CONNECTION", pytest.param("SSH_TTY", marks=pytest.mark.slow)]
)
def test_over_ssh_another_computers_clipboard_is_left_alone(
    tmp_path: Path, computer: Computer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    clip = computer(GOOD)
    monkeypatch.setenv(name, "10.0.0.1 50000 10.0.0.2 22")

    async def scenario(stage: Stage) -> None:
        await taught(stage)
        await stage.press("f9")
        await stage.sees(SENT)
        await stage.pilot.pause(0.5)
        assert not clip.exists()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_clipboard_that_hangs_holds_nothing_up(
    tmp_path: Path, computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer(HANGS)
    monkeypatch.setattr(clipboard, "PATIENCE", 30.0)  # the machine may be busy, too

    async def scenario(stage: Stage) -> None:
        await taught(stage)
        await stage.press("f9")
        await stage.sees(SENT)
        await stage.say("more")
        await stage.sees("5 five answers")
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.teacher.closed and not stage.app.is_running)

    begun = time.monotonic()
    play(scenario, tmp_path)
    assert time.monotonic() - begun < clipboard.PATIENCE


def test_what_was_told_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "is_here", lambda _: True)
    wait = [True]

    def slow(_: str) -> bool:
        while wait:
            time.sleep(0.01)
        return True

    monkeypatch.setattr(clipboard, "put", slow)

    async def scenario(stage: Stage) -> None:
        await taught(stage)
        await stage.press("f9")
        await stage.sees(SENT)
        await stage.press("ctrl+c")
        await stage.sees("ctrl+q leaves")
        wait.clear()
        await stage.pilot.pause(0.2)
        assert "ctrl+q leaves" in stage.text()

    play(scenario, tmp_path)


def test_the_first_frame_does_not_wait_for_it() -> None:
    code = """
import sys, vidya_tui.__main__, vidya_tui.app.app
print({"pyperclip", "vidya_tui.terminal.clipboard"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "set()", done.stderr


async def taught(stage: Stage) -> None:
    await stage.say("hello")
    await stage.sees("5 five answers")
    await stage.press("2")
    await stage.sees("preferred 2")
