"""Ends the app within two seconds of SIGTERM or SIGHUP, and where its terminal is gone.

The event loop may be stuck then: Textual (8.2.8) writes from a thread that ends with the first error,
or waits for ever for a terminal that nobody reads, and the loop waits for room in its queue. So the
handlers are Python's own, which run wherever the main thread waits, and a thread of their own has the
last word. Nothing is lost by it: what was judged is in the journal, and what was typed is kept first.
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
"""Seconds in which the teacher may save."""
GRACE = 0.4
"""Seconds after that in which the app may end by itself."""
NUMBERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_called = threading.Event()


def on_signals(leave: Callable[[], None], end_teacher: Callable[[], None]) -> None:
    """leave: keeps what was typed and asks the app to end; end_teacher: ends what still saves. Both
    must return at once. Does nothing outside the main thread."""

    def called(number: int, frame: object) -> None:
        if _called.is_set():
            return
        _called.set()
        threading.Thread(target=_last_word, args=(end_teacher,), daemon=True).start()
        with contextlib.suppress(Exception):  # the app may be half gone: it ends all the same
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
    os._exit(0)


def outlives_its_terminal(driver: type[Driver]) -> type[Driver]:
    """The driver, which takes the end of the terminal for SIGHUP: that is not sent to a process which
    the terminal does not control. Other drivers than that of Linux and macOS stay as they are."""
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
    """A file to write to. The first error hangs up, and those after it are passed over."""

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
    """Waits for the end of the terminal: who reads from it sees no more than that nothing comes."""
    poll = select.poll()
    poll.register(number, 0)  # the end is always told
    while not _called.is_set():
        for _, told in poll.poll(1000):
            if told & select.POLLNVAL:
                return  # closed by ourselves
            hang_up()
            return


def hang_up() -> None:
    """The terminal is gone: as if the system had said so."""
    if not _called.is_set():
        os.kill(os.getpid(), signal.SIGHUP)
