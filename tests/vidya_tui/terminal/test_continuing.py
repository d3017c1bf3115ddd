"""After SIGSTOP and SIGCONT one thread reads the terminal, and the screen is painted again."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learning.home import Home
from learning.journal.journal import Journal
from tests.fakes import ScriptedTeacher
from vidya_tui.app.app import VidyaApp
from vidya_tui.settings.file import Settings

APP = """
import os
import signal
import threading
from textual.app import App
from textual.widgets import Static
from vidya_tui.app.last_call import outlives_its_terminal
from vidya_tui.terminal.continuing import continues

class Small(App):
    def get_driver_class(self):
        return continues(outlives_its_terminal(super().get_driver_class()))

    def compose(self):
        yield Static("here it is")

    def on_key(self, event):
        if event.key == "h":  # while the queue of the thread that writes is locked
            with self._driver._writer_thread._queue.mutex:
                os.kill(os.getpid(), signal.SIGCONT)
                [number for number in range(9)]
            return
        names = [thread.name for thread in threading.enumerate()]
        self.exit(return_code=names.count("textual-input"))

app = Small()
app.run()
for stop in range(3):
    os.kill(os.getpid(), signal.SIGTSTP)
    [number for number in range(9)]
raise SystemExit(app.return_code)
"""


def painted(master: int, seconds: float = 30.0) -> bool:
    """Reads what the app paints until its text has come."""
    got, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            got += os.read(master, 65536)
        if re.search(rb"here.{0,9}it.{0,9}is", got):
            return True
    return False


def _status(app: subprocess.Popen[bytes], master: int) -> int:
    """Reads and continues the app until it ends. Returns its exit status."""
    end = time.monotonic() + 20.0
    while app.poll() is None and time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            os.read(master, 65536)
        with contextlib.suppress(ChildProcessError):  # it has ended
            if os.waitid(os.P_PID, app.pid, os.WSTOPPED | os.WNOHANG):
                app.send_signal(signal.SIGCONT)
    return app.wait(1)


def test_the_app_continues_so(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite3")
    app = VidyaApp(Home(tmp_path), lambda: journal, ScriptedTeacher, Settings(theme="dark"))
    assert {"Continuing", "Outliving"} <= {kind.__name__ for kind in app.get_driver_class().__mro__}


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGSTOP, signal.SIGTSTP])
def test_one_thread_reads_the_terminal_after_a_stop(stop: signal.Signals) -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen(
        [sys.executable, "-c", APP], stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as app:
        try:
            assert painted(master)
            for again in range(2):
                app.send_signal(stop)
                os.waitid(os.P_PID, app.pid, os.WSTOPPED)
                app.send_signal(signal.SIGCONT)
                app.send_signal(signal.SIGCONT)
                assert painted(master), f"time {again}"
            os.write(master, b"h")
            assert painted(master), "the lock"
            os.write(master, b"x")
            assert _status(app, master) == 1, "threads that read"
        finally:
            app.kill()
            os.close(slave)
            os.close(master)
