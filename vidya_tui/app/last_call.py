"""Ends the app within two seconds after SIGTERM or SIGHUP, or after its terminal has gone.

The event loop may be stuck at that point: Textual (8.2.8) writes in a thread that ends at the first
error or blocks forever on a terminal that nobody reads, and then the loop waits for room in that
thread's queue. So this module installs handlers with `signal.signal`, which run even while the main
thread waits, and a second thread calls `os._exit` after SAVES + GRACE seconds. Nothing is lost: the
journal holds everything that was judged, and the unsent text is saved first.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from textual.driver import Driver

SAVES = 1.0
"""Seconds that the teacher has to save."""
GRACE = 0.4
"""Seconds after SAVES in which the app may end by itself; then the process exits."""
NUMBERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
INTERRUPTED = 130
"""Exit status of an app that a signal ended, as of every other command."""
_called = threading.Event()


def on_signals(leave: Callable[[], None], end_teacher: Callable[[], None]) -> None:
    """Installs the handlers. leave: saves the unsent text and asks the app to end. end_teacher: ends
    the teacher's process, even if it is still saving. Both must return at once. Does nothing outside
    the main thread."""

    def called(number: int, frame: object) -> None:
        if _called.is_set():
            return
        _called.set()
        threading.Thread(target=_last_word, args=(end_teacher,), daemon=True).start()
        with contextlib.suppress(Exception):  # the app may be partly torn down; exit in any case
            leave()

    _called.clear()
    for number in NUMBERS:
        with contextlib.suppress(ValueError):
            signal.signal(number, called)


def _last_word(end_teacher: Callable[[], None]) -> None:
    time.sleep(SAVES)
    with contextlib.suppress(Exception):
        end_teacher()
    time.sleep(GRACE)
    os._exit(INTERRUPTED)


def outlives_its_terminal(driver: type[Driver]) -> type[Driver]:
    """A subclass of driver that raises SIGHUP when the terminal is gone. The system sends SIGHUP only
    to processes whose controlling terminal it is. Changes only the driver of Linux and macOS; returns
    any other driver unchanged."""
    module = sys.modules.get(driver.__module__)
    if not hasattr(module, "WriterThread") or not hasattr(select, "poll"):
        return driver

    class Outliving(driver):  # type: ignore[valid-type,misc]
        _watched = False

        def start_application_mode(self) -> None:
            super().start_application_mode()
            self._writer_thread._file = Guarded(self._writer_thread._file)
            if not self._watched:
                self._watched = True
                threading.Thread(target=_watch, args=(self.fileno,), daemon=True).start()

    return Outliving


class Guarded:
    """A writable file that raises no error: at the first error it calls `hang_up`; later ones are
    ignored."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._try(lambda: self._file.write(text))

    def flush(self) -> None:
        self._try(self._file.flush)

    def fileno(self) -> int:
        return self._file.fileno()

    @staticmethod
    def _try(work: Callable[[], object]) -> None:
        try:
            work()
        except (OSError, ValueError):
            hang_up()


def _watch(number: int) -> None:
    """Waits until the terminal is gone. A reader could not tell: it only gets no input.
    number: the terminal's file descriptor."""
    poll = select.poll()
    poll.register(number, 0)  # POLLHUP, POLLERR and POLLNVAL are always reported
    while not _called.is_set():
        for _, told in poll.poll(1000):
            if told & select.POLLNVAL:
                return  # closed by ourselves
            hang_up()
            return


def hang_up() -> None:
    """Sends SIGHUP to this process, as the system would when the terminal goes."""
    if not _called.is_set():
        os.kill(os.getpid(), signal.SIGHUP)
