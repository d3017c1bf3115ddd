"""Runs the teacher in a separate process: starts it, passes messages, restarts it when it dies.

So a crash of the model does not end the conversation, and the interface's process loads no torch.
Left out: recovering lost answers. The session asks again for what was not answered (`Session.recover`) when
it receives WorkerLost.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from engine.errors import VidyaError
from learning.home import Home
from learning.protocol.events import Event, Failed, WorkerLost
from learning.protocol.messages import decode, encode
from learning.protocol.requests import Generate, Learn, OwnerActive, Request, SetLearning, Shutdown
from vidya_tui.worker.environment import prepare
from vidya_tui.worker.log import open_log, write_log

RESTARTS = 3
"""Most restarts within WINDOW."""
WINDOW = 60.0
"""Seconds."""
CANNOT_LOAD = 3
"""Exit status of a worker that cannot load its model and has reported why; it is not restarted."""
Process = subprocess.Popen[bytes]


class WorkerTeacher:
    """A TeacherPort whose teacher runs in another process. The constructor returns at once."""

    def __init__(
        self,
        home: Home,
        *,
        on_event: Callable[[Event], None],
        model: str | None = None,
        device: str | None = None,
        seed: int | None = None,
        command: Sequence[str] | None = None,
        patience: float = 10.0,
    ) -> None:
        """command: replaces the worker's command line in tests. patience: seconds that `close` waits for the
        worker to save."""
        self._home = home
        self._on_event = on_event
        self._command = list(command or worker_command(home.path, model, device, seed))
        self._patience = patience
        self._changed = threading.Condition()
        self._queue: deque[Request] = deque()
        self._process: Process | None = None
        self._closing = False
        self._given_up = False
        self._starts: deque[float] = deque()
        self._threads = [
            threading.Thread(target=self._supervise, name="worker-reader", daemon=True),
            threading.Thread(target=self._write, name="worker-writer", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int | None:
        """Process id of the worker; None while it is down."""
        with self._changed:
            return self._process.pid if self._process is not None else None

    def send(self, request: Request) -> None:
        """Queues a request; returns at once. Requests wait while the worker is down; after it was given up
        they fail with an event."""
        with self._changed:
            if self._closing:
                return
            if not self._given_up:
                down = self._process is None
                if not (down and isinstance(request, OwnerActive)) and not queued(
                    request, self._queue
                ):
                    self._queue.append(request)
                    self._changed.notify_all()
                return
        if not isinstance(request, OwnerActive):
            ask = request.ask if isinstance(request, Generate) else None
            what = "the model's process is gone and could not be started again"
            self._emit(Failed("worker", what, "quit and start vidya again; nothing is lost", ask))

    def close(self) -> None:
        """Asks the worker to save and stop, and waits; kills it after `patience`. Idempotent."""
        with self._changed:
            first, self._closing = not self._closing, True
            process = self._process
            if first:
                self._queue.append(Shutdown())
            self._changed.notify_all()
        if process is not None:
            _end(process, self._patience)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=2.0)

    def end(self) -> None:
        """Kills the worker at once, without saving; waiting lessons are in the journal. Can be called from
        any thread; takes no lock."""
        self._closing = True
        if (process := self._process) is not None:
            with contextlib.suppress(OSError):
                process.kill()

    # ------------------------------------------------------------ reading and restarting

    def _supervise(self) -> None:
        while True:
            process, reason = self._start()
            if process is not None:
                self._read(process)
                reason = _reason(process.wait())
                assert process.stdin is not None
                with contextlib.suppress(OSError):
                    process.stdin.close()
            with self._changed:
                self._process = None
                if self._closing:
                    self._changed.notify_all()
                    return
                final = process is None or process.returncode == CANNOT_LOAD
                again = not final and self._may_restart()
                if not again:
                    self._given_up = True
                    self._queue.clear()
                    self._changed.notify_all()
            write_log(self._home.log_path, f"worker: {reason}; {'again' if again else 'given up'}")
            self._emit(WorkerLost(reason, restarting=again))
            if not again:
                return

    def _start(self) -> tuple[Process | None, str]:
        """Starts a process: (process, "") or (None, reason)."""
        try:
            process = start_process(self._command, self._home.log_path)
        except OSError as error:
            return None, f"the model's process could not be started ({error.strerror})"
        with self._changed:
            self._process = process
            closing = self._closing
            self._changed.notify_all()
        if closing:  # close() was called between two processes and found none
            process.terminate()
        return process, ""

    def _read(self, process: Process) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                text = line.decode("utf-8", "replace").strip()
                if not text:
                    continue
                try:
                    message = decode(text)
                except VidyaError:
                    write_log(self._home.log_path, f"worker: not an event, ignored: {text[:500]}")
                    continue
                self._emit(message)  # type: ignore[arg-type]  # requests never come this way

    def _may_restart(self) -> bool:
        now = time.monotonic()
        while self._starts and now - self._starts[0] > WINDOW:
            self._starts.popleft()
        if len(self._starts) >= RESTARTS:
            return False
        self._starts.append(now)
        return True

    def _emit(self, event: Event) -> None:
        try:
            self._on_event(event)
        except Exception as error:  # a listener that fails must not end the reading
            write_log(self._home.log_path, f"worker: the listener failed: {error!r}")

    # ------------------------------------------------------------ writing

    def _write(self) -> None:
        """Writes the queued requests to the worker. Has its own thread, because a full pipe blocks."""
        broken: Process | None = None
        while True:
            with self._changed:
                while not self._queue or self._process is None or self._process is broken:
                    if self._given_up or (self._closing and self._process is None):
                        return
                    if self._closing and self._process is broken:
                        return
                    self._changed.wait(timeout=0.5)
                process, request = self._process, self._queue[0]
            assert process.stdin is not None
            try:
                _put(process.stdin, encode(request) + "\n")
            except (OSError, ValueError):  # the worker died; keep the request for the next one
                broken = process
                continue
            with self._changed:
                if self._queue and self._queue[0] is request:
                    self._queue.popleft()
            if isinstance(request, Shutdown):
                with contextlib.suppress(OSError):
                    process.stdin.close()
                return


def queued(request: Request, queue: Iterable[Request]) -> bool:
    """True if the same request waits already. After WorkerLost the session sends missing requests again,
    some of which may still be queued."""
    if isinstance(request, Generate):
        return any(isinstance(r, Generate) and r.ask == request.ask for r in queue)
    return isinstance(request, Learn | SetLearning | OwnerActive) and request in queue


def worker_command(
    home: Path, model: str | None, device: str | None, seed: int | None
) -> list[str]:
    """The command line of the worker."""
    # -P: do not import files of the folder in which vidya was started
    command = [sys.executable, "-P", "-m", "vidya_tui.worker.main", "--home", str(home)]
    options = {"--model": model, "--device": device, "--seed": seed}
    for name, value in options.items():
        if value is not None:
            command += [name, str(value)]
    return command


def start_process(command: Sequence[str], log_path: Path) -> subprocess.Popen[bytes]:
    """Starts a process of vidya with pipes for input and output; its errors go to the log. Raises OSError."""
    with open_log(log_path) as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=worker_environment(os.environ),
            start_new_session=True,  # ctrl+c in the terminal must reach the interface only
        )


def worker_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment: ours, the variables for torch, and this program on PYTHONPATH."""
    env = dict(ours)
    prepare(env)
    root = str(Path(__file__).resolve().parents[2])
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if root not in installed:
        env["PYTHONPATH"] = os.pathsep.join(p for p in (root, env.get("PYTHONPATH")) if p)
    return env


def _put(pipe: IO[bytes], line: str) -> None:
    pipe.write(line.encode("ascii"))
    pipe.flush()


def _end(process: Process, patience: float) -> None:
    """Waits `patience` seconds for the process to end; then terminates it, then kills it."""
    for last_word in (process.terminate, process.kill, None):
        try:
            process.wait(timeout=patience)
            return
        except subprocess.TimeoutExpired:
            if last_word is not None:
                last_word()
            patience = 2.0


def _reason(status: int) -> str:
    if status >= 0:
        return f"the model's process ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
    return f"the model's process was ended by {name}{hint}"
