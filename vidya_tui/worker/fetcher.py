"""Fetches models while the app runs: starts the process (worker/fetch.py), reads its events, ends it.

Left out: what the owner is told (state/fetching.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from engine.errors import VidyaError, reason
from learning.home import Home
from learning.protocol.events import Event, Failed
from learning.protocol.messages import decode
from learning.protocol.model_events import Fetched
from vidya_tui.worker.log import write_log
from vidya_tui.worker.supervisor import start_process

PATIENCE = 8.0
"""Seconds in which the process may end by itself after its stdin was closed."""
Command = Callable[[Home, str], Sequence[str]]
"""(home, name of a model) -> command line of the process."""


def fetch_command(home: Home, name: str) -> Sequence[str]:
    """The command line of the process."""
    # -P: do not import files of the folder in which vidya was started
    module = "vidya_tui.worker.fetch"
    return [sys.executable, "-P", "-m", module, "--home", str(home.path), "--name", name]


class Fetcher:
    """Fetches one model at a time. Reports FetchProgress, then Fetched or Failed("fetch"); nothing more
    after `stop`."""

    def __init__(
        self, home: Home, on_event: Callable[[Event], None], command: Command = fetch_command
    ) -> None:
        """on_event: called from a thread. command: replaces the process in tests."""
        self.home = home
        self._on_event, self._command = on_event, command
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._stopped = False

    def start(self, name: str) -> None:
        """Begins to fetch a known model; returns at once. Raises VidyaError where that is not possible."""
        if self._reader is not None and self._reader.is_alive():
            raise VidyaError("the last download has not ended yet", "try again in a moment")
        try:
            self._process = start_process(self._command(self.home, name), self.home.log_path)
        except OSError as error:
            what = f"the download cannot be started ({reason(error)})"
            raise VidyaError(what, "try again when the system has room for a process") from error
        self._stopped = False
        self._reader = threading.Thread(
            target=self._read, args=(self._process, name), name="fetching", daemon=True
        )
        self._reader.start()

    def stop(self) -> None:
        """Ends the download, if one runs; returns at once. What was fetched may be used the next time."""
        self._stopped = True
        if (process := self._process) is not None:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()

    def close(self) -> None:
        """Ends the download and waits until its process is gone, at most PATIENCE seconds. Idempotent."""
        self.stop()
        if (process := self._process) is not None:
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
        if self._reader is not None:
            self._reader.join(timeout=2.0)

    def _read(self, process: subprocess.Popen[bytes], name: str) -> None:
        ended = False
        assert process.stdout is not None and process.stdin is not None
        with process.stdout as lines:
            for line in lines:
                try:
                    event = decode(line.decode("utf-8", "replace"))
                except VidyaError:
                    write_log(self.home.log_path, f"fetch: not an event, ignored: {line[:500]!r}")
                    continue
                ended = ended or isinstance(event, Fetched | Failed)
                self._tell(event)  # type: ignore[arg-type]  # requests never come this way
        status = process.wait()
        with contextlib.suppress(OSError):
            process.stdin.close()
        if not ended:
            what = f"{name} could not be fetched: its process ended with status {status}"
            self._tell(Failed("fetch", what, "the log in the home has the details"))

    def _tell(self, event: Event) -> None:
        if not self._stopped:
            self._on_event(event)
