"""The process that fetches a model into the home while the app runs, and prepares it for lessons; the app
holds the home's lock for it.

Writes events to stdout, one JSON object a line. Ends when stdin closes, because the interface is gone or
wants it to end; what was fetched stays for the next time where the source can resume. Loads torch, but only
inside main().
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import VidyaError, reason
from learning.home import Home
from learning.protocol.events import Failed
from learning.protocol.model_events import Fetched, FetchProgress
from vidya_tui.worker.main import EventWriter, take_stdout

if TYPE_CHECKING:
    from learning.evaluate import BookSample
    from learning.models.get import GotModel
    from learning.models.store import ModelInfo

LAST_SECONDS = 5.0
"""Time limit for removing what is half-made after stdin has closed."""
TOLD_EVERY = 0.25
"""Seconds between two reports of progress."""
NICENESS = 10
"""Of this process: the model that answers comes first."""


class Reporter:
    """Reports progress, at most every TOLD_EVERY seconds, and always when everything is fetched."""

    def __init__(self, name: str, report: Callable[[FetchProgress], None]) -> None:
        self._name, self._report = name, report
        self._last = 0.0
        self._whole = False
        self._total = 0

    def __call__(self, done: int, total: int) -> None:
        """Arguments: bytes done, and the total."""
        now, whole, self._total = time.monotonic(), done >= total, total
        if now - self._last >= TOLD_EVERY or (whole and not self._whole):
            self._last, self._whole = now, whole
            self._report(FetchProgress(self._name, done, total))

    def prepared(self, share: float) -> None:
        """Of what follows when everything is fetched, 0 to 1."""
        if (now := time.monotonic()) - self._last >= TOLD_EVERY:
            self._last = now
            self._report(FetchProgress(self._name, self._total, self._total, share))


def fetch(home: Home, name: str, report: EventWriter) -> int:
    """Fetches the model and reports how it goes; returns the exit status."""
    try:
        from learning.models.get import get_model
        from learning.models.store import ModelStore

        progress = Reporter(name, report)
        got = get_model(home, ModelStore(home), name, progress=progress, say=_log)
    except VidyaError as error:
        report(Failed("fetch", error.what, error.next_step))
    except Exception as error:
        traceback.print_exc()
        what = f"{name} could not be fetched ({type(error).__name__})"
        report(Failed("fetch", what, "the log in the home has the details"))
    else:
        info = got.info
        told, trouble = _told(got)
        _prepare(home, info, progress.prepared)
        report(Fetched(info.name, info.parameters, told, trouble))
        return 0
    return 1


def asked_book(name: str, folder: Path, say: Callable[[str], None]) -> BookSample | None:
    """Asks the model `name` in `folder` lines of Vidya's book, if it has Vidya's character; None if it has
    not, or if it cannot be asked: it is there all the same, and say gets the reason."""
    from learning.evaluate import ask_book
    from learning.models.adapters import shipped_adapter

    try:
        return ask_book(folder) if shipped_adapter(name) else None
    except Exception as error:
        say(f"{name} could not be asked its book: {reason(error)}")
        return None


def _told(got: GotModel) -> tuple[str, bool]:
    """Fetched.told and Fetched.trouble."""
    from learning.models.known import known_model

    name = got.info.name
    sample = asked_book(name, got.info.path, _log)
    if sample is None:
        return "", False
    other = got.source != known_model(name).sources[0]
    return sample.told(name) + (f"; {got.weights}" if other else ""), sample.too_few


def _prepare(home: Home, info: ModelInfo, progress: Callable[[float], None]) -> None:
    """Makes what the first lesson would wait for. Where that fails, the model is there all the same."""
    from learning.lessons.prepare import prepare_model

    try:
        prepare_model(home, info, say=_log, progress=progress)
    except Exception:
        traceback.print_exc()


def _log(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _end_with_stdin() -> None:
    """Interrupts the main thread when stdin closes; kills this process and its children if that fails."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)
    time.sleep(LAST_SECONDS)
    os.killpg(0, signal.SIGKILL)  # the group is this process's own: it leads a session


def main(arguments: list[str] | None = None) -> int:
    """Runs the process; returns its exit status."""
    parser = argparse.ArgumentParser(prog="vidya fetch")
    parser.add_argument("--home", required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args(arguments)
    report = EventWriter(take_stdout())
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_stdin, name="stdin", daemon=True).start()
    try:
        return fetch(Home(Path(options.home)), options.name, report)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
