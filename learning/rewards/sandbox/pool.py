"""The sandbox: runs programs that a model wrote, and functions that evaluate text that a model wrote.

    with Sandbox(workers=2) as sandbox:
        sandbox.run(program, tests, seconds=5).passed
        sandbox.call("learning.rewards.verifiers.expression:same", ["1/2", "0.5"], seconds=2).value
        sandbox.execute("print(3 * 4)", seconds=2).value

`run` and `execute` are for untrusted programs: whether they pass tests, and what they print. `call` is for
trusted functions that evaluate untrusted text, and may hang or crash on it. All end at their deadline. If the
kernel cannot isolate them, NoSandbox is raised and nothing runs; there is no weaker fallback.
docs/practice.md says what it protects against.
"""

from __future__ import annotations

import queue
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from learning.rewards.sandbox import wire as wire
from learning.rewards.sandbox.namespaces import Limits
from learning.rewards.sandbox.worker import FAILURES, NoSandbox, SandboxOutcome, SandboxWorker

__all__ = ["FAILURES", "Limits", "NoSandbox", "SandboxOutcome", "Sandbox"]

CALL_LIMITS = Limits(memory=2 << 30)
"""For trusted functions, which import large libraries."""


MOST_PRINTED = 300
"""Characters of a program's output that are kept."""


class Sandbox:
    """A pool of sandboxed processes. Thread-safe."""

    def __init__(
        self,
        workers: int = 2,
        *,
        limits: Limits | None = None,
        packages: Sequence[str] = ("learning", "engine"),
    ) -> None:
        """workers: number of parallel jobs. packages: importable by trusted functions, besides the
        installed ones."""
        self.workers = workers
        self.packages = tuple(packages)
        self.limits = limits or Limits()
        self._programs = _Pool(workers, lambda: SandboxWorker(self.limits))
        self._calls = _Pool(workers, lambda: SandboxWorker(CALL_LIMITS, self.packages))

    def __enter__(self) -> Sandbox:
        try:
            probe(self)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._programs.close()
        self._calls.close()

    def run(
        self,
        program: str,
        tests: str,
        seconds: float,
        *,
        given: str = "",
        names: Iterable[str] = (),
    ) -> SandboxOutcome:
        """Runs the tests against an untrusted program. value: True if they pass, else False.

        tests: statements that raise if the program is wrong; the program never sees them.
        given: trusted code of the problem (imports, helpers), run beside the tests, not the program.
        names: names in the tests that the program defines; empty: all that are not defined elsewhere.
        A builtin is taken from the program only if listed here. Raises only on bad arguments.
        """
        order = {"program": program, "tests": tests, "given": given, "names": sorted(names)}
        return self._programs.use(lambda worker: worker.run(order, seconds))

    def execute(self, program: str, seconds: float, *, most: int = MOST_PRINTED) -> SandboxOutcome:
        """Runs an untrusted program. value: {"out": what it printed and, as in Python's own console, its last
        expression, "error": the exception that ended it, or ""}.

        most: characters of each; the rest is dropped. A program that ends its process has no value but a
        failure. Whatever it says is its own word: it may print anything.
        """
        return self._programs.use(lambda worker: worker.execute(program, most, seconds))

    def call(self, target: str, arguments: Sequence[Any], seconds: float) -> SandboxOutcome:
        """Calls the trusted function "module:function" on untrusted text. value: its result.

        arguments and value: JSON without NaN and infinity, at most 1 MiB. Each worker imports the
        module once; each call runs in a fresh fork of it.
        """
        return self._calls.use(lambda worker: worker.call(target, list(arguments), seconds))

    def map(self, jobs: Iterable[Callable[[Sandbox], SandboxOutcome]]) -> list[SandboxOutcome]:
        """Runs the jobs, at most `workers` at a time. Outcomes in the order of the jobs."""
        with ThreadPoolExecutor(self.workers) as threads:
            return list(threads.map(lambda job: job(self), jobs))


class _Pool:
    def __init__(self, size: int, start: Callable[[], SandboxWorker]) -> None:
        self.start = start
        self.free: queue.LifoQueue[SandboxWorker | None] = queue.LifoQueue()
        for _ in range(size):
            self.free.put(None)
        self.size = size

    def use(self, job: Callable[[SandboxWorker], SandboxOutcome]) -> SandboxOutcome:
        """Gives the job to a free worker, and starts one if needed. Discards a worker that was lost."""
        worker, kept = self.free.get(), None
        try:
            if worker is not None and not worker.alive():
                worker.kill()
                worker = None
            worker = worker or self.start()
            outcome = job(worker)
            kept = worker
            return outcome
        except NoSandbox as error:
            return SandboxOutcome(failure="no sandbox", detail=str(error))
        except (wire.Closed, TimeoutError) as error:
            return SandboxOutcome(
                failure="killed", detail=str(error) or "the sandbox itself was lost"
            )
        finally:
            if worker is not None and kept is None:
                worker.kill()
            self.free.put(kept)

    def close(self) -> None:
        """Ends each worker after its current job. A later job starts a new one."""
        for worker in [self.free.get() for _ in range(self.size)]:
            if worker is not None:
                worker.kill()
            self.free.put(None)


_PROBE = """
import datetime, decimal, heapq, math, os, socket
def walls(hidden):
    broken = []
    if os.getpid() != 1: broken.append("processes")
    if os.path.exists("/proc/self") or os.path.exists(hidden):
        broken.append("files")
    for name in ("/probe", "/usr/lib/probe", "/dev/probe", os.__file__ + "probe"):
        try: open(name, "w")
        except OSError: pass
        else: broken.append("writing")
    try: socket.socket()
    except OSError: pass
    else: broken.append("network")
    try: os.fork()
    except OSError: pass
    else: broken.append("processes")
    return broken
"""


def probe(sandbox: Sandbox) -> None:
    """Runs a program that tries to break out. Raises NoSandbox if it succeeds anywhere."""
    with tempfile.NamedTemporaryFile() as hidden:
        tests = f"found = walls({hidden.name!r})\nassert found == [], found"
        outcome = sandbox.run(_PROBE, tests, 30)
    if outcome.failure == "no sandbox":
        raise NoSandbox(outcome.detail)
    if not outcome.passed:
        raise NoSandbox(
            f"the sandbox does not hold here ({outcome.failure or outcome.detail}), so no program of a"
            " model runs",
            "practise another task, or use another machine",
        )
