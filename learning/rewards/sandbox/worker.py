"""vidya's side of one sandboxed Python: starts it, sends it jobs, kills it if it does not answer."""

from __future__ import annotations

import contextlib
import hmac
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import VidyaError
from learning.rewards.sandbox import wire as wire
from learning.rewards.sandbox.inside import CONTROL_BYTES, UNCONFINED
from learning.rewards.sandbox.namespaces import Limits

START_SECONDS = 60.0
"""Time limit for starting a sandbox; generous, because the machine may be busy."""
IMPORT_SECONDS = 180.0
"""Time limit for importing the modules of trusted functions, once per worker."""
STOP_SECONDS = 5.0
"""Time limit for ending a job's processes after its deadline."""
FAILURES = (
    "timeout", "killed", "memory", "crashed", "too much output", "error", "no sandbox",
)  # fmt: skip
"""Values of SandboxOutcome.failure besides the empty string."""
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
"""The whole environment of trusted functions; programs get an empty one."""
ROOT = Path(__file__).parents[3]
START = """
import sys
sys.path.insert(0, {root!r})
from learning.rewards.sandbox.inside import main
main()
"""


class NoSandbox(VidyaError):
    """Model text cannot be isolated on this machine, so it is neither run nor evaluated."""


@dataclass(frozen=True)
class SandboxOutcome:
    """Result of one job."""

    value: Any = None
    """Return value of the function, or whether the program passed. None on failure."""
    failure: str = ""
    """One of FAILURES; empty if the job completed."""
    detail: str = ""
    """At most 300 characters on what went wrong. May contain model text: never interpret it as markup."""
    seconds: float = 0.0
    """Wall-clock time from request to answer."""
    busy: float = 0.0
    """Seconds of processor time."""

    @property
    def passed(self) -> bool:
        """True if all tests ran and passed."""
        return self.value is True and not self.failure


class SandboxWorker:
    """One long-lived sandboxed process. Model text runs only inside it."""

    def __init__(self, limits: Limits, packages: Iterable[str] | None = None) -> None:
        """packages: importable by trusted functions besides the installed ones; None: this worker runs
        programs only.

        Raises NoSandbox.
        """
        if sys.platform != "linux":
            raise NoSandbox(
                f"there is no sandbox for {sys.platform}, and without one no program of a model runs",
                "practise code and expressions on Linux; the other tasks work here",
            )
        shown, path = _visible(packages) if packages is not None else ([], [])
        self.prepared: set[str] = set()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = {
            "parent": os.getpid(),
            "control": theirs.fileno(),
            "shown": shown,
            "path": path,
            "limits": asdict(limits),
        }
        code = START.format(root=str(ROOT))
        with theirs:
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-X", "utf8", "-c", code, json.dumps(order)],
                    env={} if packages is None else ONE_THREAD,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                self.control.close()
                raise NoSandbox(
                    f"no process can be started for the sandbox ({error.strerror})",
                    "end other programs, then try again",
                ) from None
        try:
            answer = self._heard(START_SECONDS)
        except TimeoutError:
            answer = {"error": f"it was not ready after {START_SECONDS:.0f} s"}
        except wire.Closed:
            answer = {"error": "its process ended at once"}
        if "error" in answer:
            self.kill()
            raise NoSandbox(
                f"no sandbox can be set up here ({answer['error']}), and without one no program"
                " of a model runs",
                "let ordinary users make user namespaces (sysctl user.max_user_namespaces > 0,"
                " kernel.apparmor_restrict_unprivileged_userns = 0; in a container its seccomp profile"
                " must let unshare and mount through), then try again",
            )

    def run(self, order: dict[str, Any], seconds: float) -> SandboxOutcome:
        """Runs one program against its tests. order: {"program", "tests", "given", "names"}."""
        secret = secrets.token_hex(16)
        link = socket.socketpair()
        outcome = self._job("run", {**order, "secret": secret}, seconds, link)
        if outcome.failure or not isinstance(outcome.value, dict):
            return outcome
        passed = str(outcome.value.get("passed", ""))
        right = hmac.compare_digest(passed.encode(), secret.encode())
        if right:
            return SandboxOutcome(True, seconds=outcome.seconds)
        failed = str(outcome.value.get("failed", "crashed"))
        detail = _readable(outcome.value.get("detail", ""))
        if failed == "wrong":
            return SandboxOutcome(False, detail=detail, seconds=outcome.seconds)
        failed = failed if failed in FAILURES else "crashed"
        return SandboxOutcome(failure=failed, detail=detail, seconds=outcome.seconds)

    def execute(self, program: str, most: int, seconds: float) -> SandboxOutcome:
        """Runs one program for what it prints, at most `most` characters. value: {"out", "error"}. Both are
        texts of the program's own process, which can change nothing else."""
        outcome = self._job("execute", {"program": program, "most": most}, seconds, ())
        if outcome.failure:
            return outcome
        said = outcome.value if isinstance(outcome.value, dict) else {}
        found = {name: _readable(said.get(name, ""), most, keep="\n") for name in ("out", "error")}
        return replace(outcome, value=found)

    def call(self, target: str, arguments: list[Any], seconds: float) -> SandboxOutcome:
        """Calls a trusted function; target: "module:function"."""
        module = target.partition(":")[0]
        if module not in self.prepared:
            self._tell({"job": "prepare", "modules": [module]})
            answer = self._heard(IMPORT_SECONDS)
            if "error" in answer:
                return SandboxOutcome(failure="error", detail=answer["error"])
            self.prepared.add(module)
        outcome = self._job("call", {"target": target, "arguments": arguments}, seconds, ())
        if outcome.failure or not isinstance(outcome.value, dict):
            return outcome
        if "value" in outcome.value:
            return SandboxOutcome(outcome.value["value"], seconds=outcome.seconds)
        failed = str(outcome.value.get("failed", "crashed"))
        failed = failed if failed in FAILURES else "crashed"
        detail = _readable(outcome.value.get("detail", ""))
        return SandboxOutcome(failure=failed, detail=detail, seconds=outcome.seconds)

    def _job(
        self, job: str, order: Any, seconds: float, link: tuple[socket.socket, ...]
    ) -> SandboxOutcome:
        """Returns the raw answer in `value`. Raises wire.Closed or TimeoutError if the worker is lost."""
        started = time.monotonic()
        here, there = socket.socketpair()
        with here:
            with contextlib.ExitStack() as theirs:
                ends = [theirs.enter_context(end) for end in (there, *link)]
                message = json.dumps({"job": job, "seconds": seconds}).encode()
                self.control.settimeout(STOP_SECONDS)
                try:
                    socket.send_fds(self.control, [message], [end.fileno() for end in ends])
                except OSError:
                    raise wire.Closed from None
            value, failure, detail = None, "", ""
            until = started + seconds
            try:
                here.settimeout(seconds)
                wire.send(here, order)
                value = wire.receive(here, until)
            except TimeoutError:
                failure, detail = "timeout", f"no end after {seconds:g} s"
            except wire.TooMuch as error:
                failure, detail = "too much output", str(error)
            except (wire.Closed, OSError):
                failure = "crashed"
            except ValueError as error:
                failure, detail = "crashed", str(error)
        took = time.monotonic() - started
        ended, busy = self._stop()
        if UNCONFINED in ended:
            return SandboxOutcome(failure="no sandbox", detail="a process could not be confined")
        if failure == "crashed" or (isinstance(value, dict) and value.get("failed") == "crashed"):
            failure, detail = _how(ended[-1], detail or _readable((value or {}).get("detail", "")))
        return SandboxOutcome(value if not failure else None, failure, detail, took, busy)

    def _stop(self) -> tuple[list[int | None], float]:
        self._tell({"job": "stop"})
        answer = self._heard(STOP_SECONDS)
        if "error" in answer:
            raise wire.Closed(answer["error"])
        return list(answer["ends"]), float(answer["busy"])

    def _tell(self, message: Any) -> None:
        try:
            self.control.send(json.dumps(message).encode())
        except OSError:
            raise wire.Closed from None

    def _heard(self, seconds: float) -> dict[str, Any]:
        self.control.settimeout(seconds)
        try:
            message = self.control.recv(CONTROL_BYTES)
        except ConnectionError:
            message = b""
        if not message:
            raise wire.Closed
        answer = json.loads(message)
        assert isinstance(answer, dict)
        return answer

    def alive(self) -> bool:
        """True while its process runs."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Kills the worker and all processes in it, whatever their state."""
        self.control.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _how(end: int | None, detail: str) -> tuple[str, str]:
    """(failure, detail) of a job without an answer. end: its exit status, -signal, or None if it ran."""
    if end == -signal.SIGKILL:
        return "killed", "by the kernel: too much memory or processor time"
    if end is not None and end < 0:
        return "crashed", f"ended by {signal.Signals(-end).name}"
    return "crashed", detail or "it ended without an answer"


def _readable(detail: Any, most: int = 300, keep: str = "") -> str:
    """Text from inside, at most `most` characters; those that cannot be printed, and are not in `keep`, are
    replaced by spaces."""
    return "".join(c if c.isprintable() or c in keep else " " for c in str(detail)[:most])


def _visible(packages: Iterable[str]) -> tuple[list[str], list[str]]:
    """(folders to mount, sys.path): all installed packages, and the named ones of this repository."""
    installed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    shown, path = list(installed), list(installed)
    for name in packages:
        spec = importlib.util.find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            shown.append(str(Path(folder).resolve()))
            path.append(str(Path(folder).resolve().parent))
    return shown, list(dict.fromkeys(path))
