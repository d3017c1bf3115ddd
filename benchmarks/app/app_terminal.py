"""Runs the real app with its real worker in a pseudo-terminal and uses it as a person would."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.app.typist import prompt_text
from benchmarks.common.processes import children, cpu_seconds
from learning.home import Home

QUIET = 3.0
"""Seconds in which a process with nothing to do uses less than a twentieth of a core."""
HINT = "Say something, or /"
"""The hint in the empty prompt."""


@contextmanager
def app(home: Home, model: str) -> Iterator[Terminal]:
    """The app in a terminal, with its model loaded."""
    with Terminal(app_command(home, model)) as terminal:
        wait_frame(terminal)
        wait_awake(terminal)
        terminal.rest(1.0)
        yield terminal


def app_command(home: Home, model: str) -> list[str]:
    """The app's command line, with the same Python."""
    return [sys.executable, "-m", "vidya_tui", "--home", str(home.path), "--model", model]


def wait_frame(terminal: Terminal) -> float:
    """Waits for the prompt; seconds since the start of the process."""
    moment = terminal.wait(lambda: terminal.sees(HINT), 60, "the prompt was not painted")
    return moment - terminal.started


def wait_awake(terminal: Terminal) -> None:
    """Waits until the model is loaded."""
    terminal.wait(
        lambda: terminal.screen.row(0).endswith("ready"), 120, "the model did not wake up"
    )


def worker_of(terminal: Terminal) -> int:
    """Process id of the worker. Raises TerminalError."""
    found = children(terminal.process.pid)
    if not found:
        raise TerminalError("the app has no worker process", "this benchmark needs Linux's /proc")
    return found[-1]


def rest_until_quiet(terminal: Terminal, worker: int, most: float) -> bool:
    """Waits until the worker has hardly used a processor for QUIET seconds; returns False if that takes
    longer than `most` seconds. After its start the worker still computes caches."""
    end = time.perf_counter() + most
    while time.perf_counter() < end:
        before = cpu_seconds(worker) or 0.0
        terminal.rest(QUIET)
        if (cpu_seconds(worker) or 0.0) - before < QUIET / 20:
            return True
    return False


def exchange(terminal: Terminal, words: str) -> None:
    """Sends a message and waits for the end of the answers."""
    terminal.press(words)
    terminal.wait(lambda: terminal.sees(words), 30, "the words did not come")
    terminal.press("\r")
    terminal.wait(lambda: prompt_text(terminal) == "" or terminal.sees(HINT), 30, "not sent")
    terminal.wait(lambda: " pick" in footer(terminal), 60, "no answer came")
    terminal.wait(lambda: "stop" not in footer(terminal), 60, "the answer did not end")


def footer(terminal: Terminal) -> str:
    """The footer, which lists the active keys."""
    return terminal.screen.row(terminal.screen.lines - 1)
