"""The worker process: passes requests from stdin to the teacher, and its events to stdout.

One JSON object per line, both ways. Ends on Shutdown, or when stdin closes because the interface is gone.
Loads torch, but only inside main().
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from engine.errors import VidyaError
from learning.home import Home
from learning.protocol.events import Event, Failed
from learning.protocol.messages import TeacherPort, decode, encode
from learning.protocol.requests import Shutdown
from vidya_tui.worker.supervisor import CANNOT_LOAD

LAST_SECONDS = 8.0
"""Time limit for saving after Shutdown or the end of stdin, less than the app waits for this process (the
supervisor's `patience`)."""


class EventWriter:
    """Writes events as whole lines. Thread-safe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        line = encode(event) + "\n"
        # if the interface is gone, stdin closes too, which ends this process in order
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(line)
            self._stream.flush()


def take_stdout() -> TextIO:
    """Takes the real stdout for events only; redirects all other output on stdout to stderr."""
    stream = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream


def serve(requests: Iterable[str], teacher: TeacherPort, report: EventWriter) -> None:
    """Passes requests to the teacher until Shutdown or the end of input."""
    for line in requests:
        if not line.strip():
            continue
        try:
            request = decode(line)
            if isinstance(request, Shutdown):
                return
            teacher.send(request)  # type: ignore[arg-type]  # events never come this way
        except VidyaError as error:
            report(Failed("worker", error.what, error.next_step))
        except Exception as error:
            traceback.print_exc()
            what = f"the model could not take a request ({type(error).__name__})"
            report(Failed("worker", what, "the log in the home has the details"))


def load(options: argparse.Namespace, report: EventWriter) -> TeacherPort | None:
    """Opens the teacher; on failure reports the reason and returns None."""
    try:
        from learning.teacher.teacher import open_teacher

        return open_teacher(
            Home(Path(options.home)),
            model=options.model,
            device=options.device,
            seed=options.seed,
            on_event=report,
        )
    except VidyaError as error:
        report(Failed("load", error.what, error.next_step))
    except Exception as error:
        traceback.print_exc()
        what = f"the model cannot be loaded ({type(error).__name__}: {error})"
        report(Failed("load", what, "run `vidya doctor`; the log in the home has the details"))
    return None


def main(arguments: list[str] | None = None) -> int:
    """Runs the worker; returns its exit status."""
    parser = argparse.ArgumentParser(prog="vidya worker")
    parser.add_argument("--home", required=True)
    parser.add_argument("--model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args(arguments)
    report = EventWriter(take_stdout())
    teacher = load(options, report)
    if teacher is None:
        return CANNOT_LOAD
    with os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace") as requests:
        serve(requests, teacher, report)
    # a teacher that hangs must not outlive the interface
    watchdog = threading.Timer(LAST_SECONDS, os._exit, args=(1,))
    watchdog.daemon = True
    watchdog.start()
    teacher.close()
    watchdog.cancel()
    return 0


if __name__ == "__main__":
    sys.exit(main())
