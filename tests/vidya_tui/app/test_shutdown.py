"""vidya_tui.app.shutdown, and what could end the app with it: in a pseudo-terminal, as people have it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from benchmarks.app.app_terminal import HINT
from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.app.typist import prompt_text
from benchmarks.common.processes import children
from learning.home import Home
from tests.stage import Stage, play
from tests.vidya_tui.controller.test_drafts import EDITOR, type_half_an_entry
from tests.vidya_tui.terminal.test_editor import script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def start(home: Home, editor: str = "false") -> Terminal:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "VISUAL": editor}
    terminal = Terminal([sys.executable, "-m", "vidya_tui", "--home", str(home.path)], env=env)
    terminal.wait(lambda: terminal.sees(HINT), 60, "no prompt")
    return terminal


def write(terminal: Terminal, text: str) -> None:
    terminal.press(text)
    terminal.wait(lambda: prompt_text(terminal) == text, 60, "not typed")


def ended(terminal: Terminal, status: int) -> None:
    with pytest.raises(TerminalError, match=f"ended with status {status}"):
        terminal.wait(lambda: False, 60, "it did not end")


def test_the_app_comes_back_from_an_editor_that_fails(home: Home) -> None:
    """As of vim's :cq."""
    with start(home, "false") as terminal:
        write(terminal, "a long letter")
        terminal.press("\x1bOS")  # F4
        terminal.wait(lambda: terminal.sees("false ended with status 1"), 60, "nothing was told")
        terminal.press(" goes on")
        terminal.wait(lambda: prompt_text(terminal) == "a long letter goes on", 60, "it is dead")


def test_ctrl_c_in_the_editor_is_the_editors(home: Home, tmp_path: Path) -> None:
    body = 'printf ", edited" >> "$1"; touch "$(dirname "$0")/began"; exec sleep 60'
    with start(home, script(tmp_path, body)) as terminal:
        write(terminal, "a letter")
        terminal.press("\x1bOS")
        terminal.wait((tmp_path / "began").exists, 60, "the editor did not begin")
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.wait(
            lambda: prompt_text(terminal) == "a letter, edited", 60, "it did not come back"
        )
        terminal.rest(1.0)
        terminal.press("!")
        terminal.wait(lambda: prompt_text(terminal) == "a letter, edited!", 60, "it is dead")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_what_was_typed(home: Home, number: signal.Signals) -> None:
    with start(home) as terminal:
        write(terminal, "not sent yet")
        terminal.wait(home.first_frame_path.exists, 60, "not begun")
        terminal.rest(0.5)
        terminal.process.send_signal(number)
        ended(terminal, 130)
        assert not terminal.sees(HINT), "the terminal is still the app's"
    assert home.unsent_path.read_text() == "not sent yet"


WITHIN = 2.0
"""Seconds in which app and worker are gone, whatever they are at."""


def begun(terminal: Terminal, home: Home) -> list[int]:
    """Waits until the worker has its model; numbers of both processes."""
    terminal.wait(lambda: terminal.sees("ready"), 60, "the model did not come")
    terminal.wait(home.first_frame_path.exists, 60, "not begun")
    terminal.rest(0.5)
    (worker,) = children(terminal.process.pid)
    return [terminal.process.pid, worker]


def gone_in_time(processes: list[int], since: float, terminal: Terminal) -> None:
    """Waits for the processes to end, without reading from the terminal."""
    while any(Path(f"/proc/{number}").exists() for number in processes):
        terminal.process.poll()  # so that it is no zombie
        assert time.monotonic() < since + WITHIN, "still alive"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("training", [False, True])
def test_a_signal_ends_app_and_worker_in_time(
    home: Home, number: signal.Signals, training: bool
) -> None:
    with start(home) as terminal:
        processes = begun(terminal, home)
        if training:
            terminal.press("/train 3\r")
            terminal.wait(lambda: terminal.sees("f12 curve"), 60, "it does not train")
        write(terminal, "not sent yet")
        terminal.rest(0.5)
        terminal.process.send_signal(number)
        gone_in_time(processes, time.monotonic(), terminal)
        assert terminal.process.returncode == 130
    assert home.unsent_path.read_text() == "not sent yet"


def test_the_end_of_the_terminal_ends_both(home: Home) -> None:
    """Nothing sends SIGHUP here: the terminal does not control the process."""
    with start(home) as terminal:
        processes = begun(terminal, home)
        write(terminal, "not sent yet")
        terminal.rest(0.5)
        since = time.monotonic()
        os.close(terminal._master)
        gone_in_time(processes, since, terminal)
        terminal._master = os.open(os.devnull, os.O_RDWR)  # for the end of the test
    assert home.unsent_path.read_text() == "not sent yet"


def test_a_terminal_that_nobody_reads_does_not_keep_it(home: Home) -> None:
    """The screen cannot be written then, and the event loop waits for that."""
    with start(home) as terminal:
        processes = begun(terminal, home)
        for _ in range(300):
            with contextlib.suppress(BlockingIOError):
                os.write(terminal._master, b"words words words \x0a")
            time.sleep(0.01)
        terminal.process.send_signal(signal.SIGTERM)
        gone_in_time(processes, time.monotonic(), terminal)
        assert terminal.process.returncode == 130
    assert home.unsent_path.read_text().startswith("words words")


@pytest.mark.parametrize(("typed", "kept"), [("", "for later"), (" mine", "for later\nmine")])
def test_a_correction_that_is_open_is_kept(tmp_path: Path, typed: str, kept: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.write("for later")
        await stage.press("f2")
        await stage.sees(EDITOR)
        if typed:
            await stage.write(typed.strip())
        stage.app.exit()
        assert stage.home.unsent_path.read_text() == kept

    play(scenario, tmp_path)


def test_an_entry_that_is_open_is_kept(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await type_half_an_entry(stage)
        stage.app.exit()
        assert stage.home.unsent_path.read_text() == "Where do I live?\nIn K"

    play(scenario, tmp_path)


def test_a_digit_that_a_signal_finds_is_text_and_does_not_pick(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2")
        assert stage.app.chat.prompt.holds_digit
        stage.app.leave_by_signal(asyncio.get_running_loop())
        stage.app.chat.prompt.settle()  # its time was up just before
        await stage.until(lambda: not stage.app.is_running)
        assert stage.home.unsent_path.read_text() == "2"
        assert stage.session.waiting

    assert play(scenario, tmp_path).return_code == 130
