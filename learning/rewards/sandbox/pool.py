"""The sandbox: where everything runs that a model wrote, and whatever evaluates what a model wrote.

    with Sandbox(workers=2) as sandbox:
        sandbox.run(program, tests, seconds=5).passed
        sandbox.call("learning.rewards.verifiers.expression:same", ["1/2", "0.5"], seconds=2).value

`run` is for programs nobody trusts; `call` is for our own functions over text nobody trusts, which may
hang, crash or evaluate it. Both end at their deadline whatever they do. Where the kernel gives no
walls, NoSandbox is raised and nothing runs: there is no second-best way.
What it guards against and what not: docs/practice.md.
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
"""For trusted functions, whose libraries are large."""


class Sandbox:
    """A pool of sandboxed processes. Any number of threads may use it at a time."""

    def __init__(
        self,
        workers: int = 2,
        *,
        limits: Limits | None = None,
        packages: Sequence[str] = ("learning", "engine"),
    ) -> None:
        """workers: jobs at a time. packages: folders that trusted functions may import from,
        besides what is installed."""
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
        """Whether the tests hold for a program that nobody trusts. value: True or False.

        tests: statements that raise where something is wrong; the program never sees them.
        given: trusted code of the problem (imports, helpers), run beside the tests, not the program.
        names: what in the tests is the program's; empty: every name that nobody else defines. A
        builtin is the program's only when it is named. Never raises but for bad arguments.
        """
        order = {"program": program, "tests": tests, "given": given, "names": sorted(names)}
        return self._programs.use(lambda worker: worker.run(order, seconds))

    def call(self, target: str, arguments: Sequence[Any], seconds: float) -> SandboxOutcome:
        """Our own function "module:function" over text nobody trusts; value: what it returned.

        arguments and value: what JSON can say, NaN and infinity not among it, at most a megabyte.
        The module is imported once a worker, each call runs in a fresh copy of that process.
        """
        return self._calls.use(lambda worker: worker.call(target, list(arguments), seconds))

    def map(self, jobs: Iterable[Callable[[Sandbox], SandboxOutcome]]) -> list[SandboxOutcome]:
        """Does the jobs as many at a time as there are workers; outcomes in their order."""
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
        """Gives the job to a free worker, starting one where it must; a lost one is not put back."""
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
        """Ends the workers, each after its job; they start anew where there are further jobs."""
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
    """Tries the walls by running into them. Raises NoSandbox where one gives way."""
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
