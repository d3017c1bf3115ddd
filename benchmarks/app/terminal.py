"""Runs a program in a pseudo-terminal: types bytes and reads its screen.

POSIX only. Left out: replies to terminal queries, without which Textual works too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.app.screen import TerminalScreen
from benchmarks.common.processes import children
from engine.errors import VidyaError

COLUMNS, LINES = 100, 30
_DROPPED = (
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "VIDYA_HOME",
    "TMUX",
    "STY",
    "CI",
    "PYTHONDONTWRITEBYTECODE",
)


class TerminalError(VidyaError):
    """The program ended, or did not do in time what was expected."""


class Terminal:
    """Starts the command at once. A context manager, which ends the program."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = COLUMNS,
        lines: int = LINES,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = TerminalScreen(columns, lines)
        ours = {k: v for k, v in os.environ.items() if k not in _DROPPED} | dict(env or {})
        ours |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.set_blocking(self._master, False)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            list(command), stdin=slave, stdout=slave, stderr=slave, env=ours, start_new_session=True
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def fileno(self) -> int:
        """File descriptor of the master side."""
        return self._master

    def press(self, keys: str) -> float:
        """Types keys; returns `time.perf_counter()` just before."""
        moment = time.perf_counter()
        os.write(self._master, keys.encode())
        return moment

    def read(self, seconds: float) -> bool:
        """Waits at most `seconds` for output and draws it. False if none came."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except BlockingIOError:
            return False
        except OSError:  # Linux returns EIO once the program is gone
            data = b""
        if not data:
            raise TerminalError(
                f"the program ended with status {self.process.wait()}; it last showed\n"
                + self.screen.text(),
                "run it by hand and look",
            )
        self.screen.feed(data)
        return True

    def rest(self, seconds: float) -> None:
        """Draws output for this long."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def wait(self, true: Callable[[], bool], seconds: float, what: str) -> float:
        """Draws output until `true()`; returns that time. Raises TerminalError after `seconds`."""
        end = time.perf_counter() + seconds
        while not true():
            if time.perf_counter() > end:
                raise TerminalError(
                    f"{what}: did not come within {seconds:.0f} s; the screen is\n"
                    + self.screen.text(),
                    "run it by hand and look",
                )
            self.read(0.05)
        return time.perf_counter()

    def sees(self, words: str) -> bool:
        """True if the words are on the screen."""
        return words in self.screen.text()

    def close(self, keys: str = "\x11", patience: float = 20.0) -> None:
        """Quits with a key (ctrl+q), or else kills the program and its children. Idempotent."""
        if self._master < 0:
            return
        started = children(self.process.pid)
        with contextlib.suppress(OSError, TerminalError):
            self.press(keys)
            end = time.perf_counter() + patience
            while self.process.poll() is None and time.perf_counter() < end:
                self.read(0.1)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
        self._master = -1
        for child in started:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
