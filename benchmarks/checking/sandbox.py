"""Measures the sandbox: program checks per second, and whether it survives every hostile program.

Uses its own programs of HumanEval's size, each with seven tests, and the reference solutions of HumanEval
and MBPP if VIDYA_HUMANEVAL and VIDYA_MBPP name their JSONL files.
Left out: attacks on each wall (tests/learning/rewards).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import BenchOptions
from benchmarks.checking.sandbox_harm import ENDLESS, SLOW
from benchmarks.checking.sandbox_hostile import PROGRAMS, TESTS, Targets, filled
from benchmarks.common.processes import descendants
from benchmarks.common.report import machine, median, percentile, table, write
from engine.errors import DataError
from learning.rewards.sandbox.pool import Sandbox, SandboxOutcome
from learning.rewards.task import Problem
from learning.rewards.verifiers.answer import read_answer
from learning.rewards.verifiers.code import humaneval, mbpp, program_of

WORKERS = 2
SECONDS = 20.0
"""Deadline of honest programs; long, so that none fails on a busy machine."""
HOSTILE_SECONDS = 1.0
"""Deadline of programs that never end."""
SETS = {"HumanEval": ("VIDYA_HUMANEVAL", humaneval), "MBPP": ("VIDYA_MBPP", mbpp)}
OWN = """
from typing import List

def running_max(numbers: List[int]) -> List[int]:
    \"\"\" The largest element found until each moment in the sequence.
    >>> running_max([1, 2, 3, 2, 3, 4, 2])
    [1, 2, 3, 3, 3, 4, 4]
    \"\"\"
    result, largest = [], None
    for number in numbers:
        largest = number if largest is None else max(largest, number)
        result.append(largest)
    return result
"""
OWN_TESTS = """
def check(candidate):
    assert candidate([]) == []
    assert candidate([1, 2, 3, 4]) == [1, 2, 3, 4]
    assert candidate([4, 3, 2, 1]) == [4, 4, 4, 4]
    assert candidate([3, 2, 3, 100, 3]) == [3, 3, 3, 100, 100]
    assert candidate([-1, -2, 0]) == [-1, -1, 0]
    assert candidate([7] * 20) == [7] * 20
    assert candidate(list(range(100))) == list(range(100))

check(running_max)
"""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures rates, runs the hostile programs, and measures the rates again."""
    result: dict[str, Any] = {"machine": machine(), "workers": WORKERS}
    count = 20 if options.quick else 300
    started = time.perf_counter()
    with Sandbox(workers=WORKERS) as sandbox:
        result["start_seconds"] = time.perf_counter() - started
        own: list[Callable[[Sandbox], SandboxOutcome]] = [
            lambda pool: pool.run(OWN, OWN_TESTS, SECONDS)
        ] * count
        sandbox.map(own[: 2 * WORKERS])
        options.say(f"{count} checks of its own")
        result["checks"] = {"own": _rate(sandbox, own)}
        for name, (variable, read) in SETS.items():
            if problems := _problems(variable, read, options.quick):
                options.say(f"{len(problems)} of {name}")
                result["checks"][name] = _rate(sandbox, [_job(problem) for problem in problems])
        calls: list[Callable[[Sandbox], SandboxOutcome]] = [
            lambda pool: pool.call("math:isclose", [1.0, 1.0], SECONDS)
        ] * count
        sandbox.map(calls[: 2 * WORKERS])
        result["checks"]["calls of a trusted function"] = _rate(sandbox, calls)
        options.say(f"{len(PROGRAMS)} hostile programs")
        result["hostile"] = _hostile(sandbox, options.quick)
        result["after"] = _rate(sandbox, own)
    if options.out:
        _write(options, result)
    return result


def _rate(sandbox: Sandbox, jobs: Sequence[Callable[[Sandbox], SandboxOutcome]]) -> dict[str, Any]:
    started = time.perf_counter()
    outcomes = sandbox.map(jobs)
    took = time.perf_counter() - started
    seconds = [outcome.seconds for outcome in outcomes]
    return {
        "count": len(jobs),
        "passed": sum(outcome.passed for outcome in outcomes),
        "a_second": len(jobs) / took,
        "p50_ms": 1000 * median(seconds),
        "p95_ms": 1000 * percentile(seconds, 0.95),
    }


def _problems(variable: str, read: Any, quick: bool) -> list[Problem]:
    named = os.environ.get(variable, "")
    if not named:
        return []
    try:
        lines = Path(named).read_text("utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{named} ({variable}): {error.strerror}", "name a JSONL file") from None
    rows = [read(json.loads(line), f"{named}:{n}") for n, line in enumerate(lines, 1)]
    return rows[:20] if quick else rows


def _job(problem: Problem) -> Callable[[Sandbox], SandboxOutcome]:
    truth, worked = problem.truth, problem.worked or ""
    program = program_of(read_answer(worked), worked, truth["begin"])
    return lambda pool: pool.run(
        program, truth["tests"], SECONDS, given=truth["given"], names=truth["names"]
    )


def _hostile(sandbox: Sandbox, quick: bool) -> dict[str, Any]:
    before = descendants(os.getpid())
    with tempfile.TemporaryDirectory() as room, socket.create_server(("127.0.0.1", 0)) as server:
        folder, secret = Path(room, "folder"), Path(room, "journal")
        folder.mkdir()
        folder.chmod(0o777)
        secret.write_text("journal")
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        targets = Targets(
            str(folder), str(secret), sleeper.pid, server.getsockname()[1], f"{room}/no", "PATH"
        )

        def job(name: str) -> Callable[[Sandbox], SandboxOutcome]:
            seconds = HOSTILE_SECONDS if name in ENDLESS or name in SLOW else SECONDS
            program = filled(PROGRAMS[name], targets)
            return lambda pool: pool.run(program, TESTS, seconds)

        names = list(PROGRAMS)[:: 8 if quick else 1]
        started = time.perf_counter()
        outcomes = sandbox.map([job(name) for name in names])
        took = time.perf_counter() - started
        unharmed = sleeper.poll() is None and not list(folder.iterdir())
        sleeper.kill()
        sleeper.wait()
    ends = Counter(outcome.failure or "wrong" for outcome in outcomes)
    return {
        "count": len(names),
        "passed": [n for n, o in zip(names, outcomes, strict=True) if o.passed],
        "ends": dict(ends.most_common()),
        "seconds": took,
        "targets_unharmed": unharmed,
        "processes_left": len(descendants(os.getpid()) - before),
    }


def _write(options: BenchOptions, result: dict[str, Any]) -> None:
    assert options.out is not None
    hostile, after = result["hostile"], result["after"]
    rates = [
        [name, row["count"], row["passed"], row["a_second"], row["p50_ms"], row["p95_ms"]]
        for name, row in [*result["checks"].items(), ("own, after the hostile programs", after)]
    ]
    ends = ", ".join(f"{count} {name}" for name, count in hostile["ends"].items())
    write(
        options.out,
        "sandbox",
        "Programs that nobody trusts",
        options.command("sandbox", variables=[variable for variable, _ in SETS.values()]),
        [
            f"{result['workers']} workers, ready after {result['start_seconds']:.2f} s. A check is a"
            " program and its tests, each in a fresh process with its own namespaces.",
            table(["checks", "count", "passed", "a second", "p50 ms", "p95 ms"], rates),
            f"{hostile['count']} hostile programs took {hostile['seconds']:.0f} s: "
            f"{len(hostile['passed'])} passed ({ends}). Processes left behind:"
            f" {hostile['processes_left']}. What they aimed at is"
            f" {'unharmed' if hostile['targets_unharmed'] else 'HARMED'}.",
        ],
        result,
    )
