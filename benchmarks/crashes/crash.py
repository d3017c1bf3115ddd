"""Kills the program and its worker at random moments and checks the home afterwards.

One home goes through all kills. After each kill it checks that the journal is intact, that every judgement
confirmed on the screen is in it, that the model's file is intact, that the book has no partial or duplicate
line, and that the next start works. At the end the program may catch up: every lesson must be in the saved
weights or marked as needing practice, and the book must have what was taught. Finally everything is
forgotten: no file of the home may contain any of it. Left out: power loss; after `kill -9` the kernel still
writes what it has.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import RESULTS, ROOT, BenchOptions
from benchmarks.common.report import machine, table, write
from benchmarks.common.scratch import scratch_home
from benchmarks.crashes.crash_look import (
    book_lines,
    forgotten,
    known,
    look,
    settled,
    states,
    whole_copy,
)
from learning.home import Home

KILLS = 50
AIMS = (
    "starting",
    "asking",
    "streaming",
    "judging",
    "judged",
    "learning",
    "checking",
    "saving",
    "training",
    "any",
)
"""Phases to aim at in turn; `any`: a random moment."""
LATEST = {
    "starting": 3.0,
    "asking": 0.3,
    "streaming": 1.0,
    "judging": 0.02,
    "judged": 0.3,
    "learning": 4.0,
    "checking": 1.5,
    "saving": 0.25,
    "training": 6.0,
    "any": 15.0,
}
"""Most seconds from the start of the phase to the kill."""
WRITING = ".model*.safetensors.*"
"""Temporary files and folders of weights that are being written: whole file, base, delta or index."""
START_SECONDS = 120.0


@dataclass
class Life:
    """One run of the program, as seen from outside."""

    process: subprocess.Popen[bytes]
    phase: str = "starting"
    worker: int | None = None
    ready: bool = False
    confirmed: dict[int, tuple[int, str]] = field(default_factory=dict)
    """judgement -> (ask, answer)"""
    failed: list[str] = field(default_factory=list)
    learned: list[float] = field(default_factory=list)
    """Seconds per lesson."""
    _rest: bytes = b""

    def hear(self, seconds: float) -> list[str]:
        """Reads its output for at most `seconds`; returns the phases reported."""
        assert self.process.stdout is not None
        told: list[str] = []
        if select.select([self.process.stdout], [], [], seconds)[0]:
            self._rest += os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.worker = said.get("worker") or self.worker
            if "phase" in said:
                self.phase = said["phase"]
                told.append(self.phase)
            self.ready = self.ready or said.get("phase") == "ready"
            if "confirmed" in said:
                number, ask, answer = said["confirmed"]
                self.confirmed[number] = (ask, answer)
            if "failed" in said:
                self.failed.append(said["failed"])
            if "seconds" in said:
                self.learned.append(said["seconds"])
        return told

    def kill(self, worker_first: bool) -> None:
        """Kills both process groups and reads the rest of the output."""
        groups = [self.process.pid, *([self.worker] if self.worker else [])]
        for group in reversed(groups) if worker_first else groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        while select.select([self.process.stdout], [], [], 0)[0]:
            before = len(self._rest)
            self.hear(0)
            if len(self._rest) == before:
                break
        self.process.stdout.close()


def run(options: BenchOptions) -> dict[str, Any]:
    """Returns the figures and `problems`, which is empty if all is well."""
    return measure(options, 3 if options.quick else KILLS)


def measure(options: BenchOptions, kills: int, minutes: float = math.inf) -> dict[str, Any]:
    """Like `run`, with this number of kills, or fewer if the time runs out."""
    seed = options.seeds[0]
    chance = random.Random(seed)
    where = machine()
    with scratch_home(options) as (home, model), tempfile.TemporaryDirectory() as aside:
        first = whole_copy(home.models_path / model, Path(aside) / "first.safetensors")
        end = time.monotonic() + 60.0 * minutes
        result = _run(options, home, model, first, kills, chance, seed, end)
    result = {"machine": where, "seed": seed, **result}
    if options.out:
        _write(options.out, result)
    return result


def _run(
    options: BenchOptions,
    home: Home,
    model: str,
    first: Path,
    kills: int,
    chance: random.Random,
    seed: int,
    end: float,
) -> dict[str, Any]:
    phases: Counter[str] = Counter()
    confirmed: dict[int, tuple[int, str]] = {}
    problems: list[str] = []
    seconds: list[float] = []
    for number in range(kills):
        if time.monotonic() > end:
            break
        aim = AIMS[number % len(AIMS)]
        life = _start(home, model, seed * 1000 + number, number, train=aim == "training")
        _wait(life, aim, home, model, chance)
        life.kill(worker_first=chance.random() < 0.5)
        phase = _phase(life, home, model)
        phases[phase] += 1
        confirmed |= life.confirmed
        seconds += life.learned
        found = [*life.failed, *look(home, model, confirmed)]
        problems += [f"kill {number + 1} ({phase}): {what}" for what in found]
        options.say(f"kill {number + 1} of {kills}: {phase}; {len(confirmed)} judgements, {found}")
    left_over = sorted(path.name for path in (home.models_path / model).glob(".*"))
    started, waited = time.monotonic(), states(home).get("waiting", 0)
    last = _start(home, model, seed, kills, finish=True)
    while last.process.poll() is None:
        last.hear(1.0)
    last.hear(0)
    found = [*last.failed, *look(home, model, confirmed), *settled(home, model)]
    if last.process.returncode or last.phase != "finished":
        found.append(f"the last start ended with {last.process.returncode} while {last.phase}")
    problems += [f"in the end: {what}" for what in found]
    result = {
        "kills": phases.total(),
        "phases": dict(phases),
        "confirmed": len(confirmed),
        "lost": sum("is not in the journal" in what for what in problems),
        "problems": problems,
        "states": states(home),
        "book_lines": len(book_lines(home)),
        "waited": waited,
        "catching_up_seconds": round(time.monotonic() - started, 1),
        "lesson_seconds": round(sum(seconds) / len(seconds), 1) if seconds else None,
        "temporary_files_left": left_over,
        "known": known(home, model),
    }
    problems += [f"after forgetting: {what}" for what in forgotten(home, model, first)]
    return result


def _start(
    home: Home, model: str, seed: int, number: int, *, train: bool = False, finish: bool = False
) -> Life:
    command = [sys.executable, "-m", "benchmarks.crashes.crash_player", "--home", str(home.path)]
    command += ["--model", model, "--seed", str(seed), "--round", str(number)]
    command += ["--train"] * train + ["--finish"] * finish
    return Life(subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True))


def _wait(life: Life, aim: str, home: Home, model: str, chance: random.Random) -> None:
    """Waits for the moment of the kill."""
    deadline = time.monotonic() + START_SECONDS
    folder = home.models_path / model
    old = set(folder.glob(WRITING))
    while aim not in ("starting", "any") or life.worker is None:
        told = life.hear(0.002 if aim == "saving" else 0.02)
        if life.process.poll() is not None:
            life.failed.append(f"the program ended by itself with {life.process.returncode}")
            return
        if aim in told or (aim in ("starting", "any") and life.worker):
            break
        if aim == "saving" and set(folder.glob(WRITING)) - old:
            break
        if time.monotonic() > deadline:
            if not life.ready:
                life.failed.append("the start took too long")
            return
    moment = time.monotonic() + chance.uniform(0.0, LATEST[aim])
    while (left := moment - time.monotonic()) > 0:
        life.hear(min(left, 0.05))


def _phase(life: Life, home: Home, model: str) -> str:
    """The phase in which it was killed, from its last output and the state of the home."""
    folder = home.models_path / model
    connection = sqlite3.connect(home.journal_path)
    try:
        published = connection.execute("SELECT max(version) FROM publications").fetchone()[0] or 0
        saved = connection.execute("SELECT max(version) FROM saves").fetchone()[0] or 0
    except sqlite3.Error:
        return "starting"
    finally:
        connection.close()
    newest = max((p.stat().st_mtime for p in folder.glob(WRITING)), default=0.0)
    if newest > time.time() - 2.0:
        return "saving (file half written)"
    if published > saved and life.phase in ("checking", "learning", "training"):
        return "publication (before or after the file)"
    if life.phase in ("ready", "gathering"):
        return "between"
    return {"judged": "just judged", "idle": "just learned"}.get(life.phase, life.phase)


# ---------------------------------------------------------------- the table


def _write(out: Path, result: dict[str, Any]) -> None:
    phases = sorted(result["phases"].items(), key=lambda item: -item[1])
    known = result["known"]
    facts = [
        ("kills", result["kills"]),
        ("judgements confirmed on the screen", result["confirmed"]),
        ("of these lost", result["lost"]),
        ("anything else wrong", len(result["problems"]) - result["lost"]),
        *((f"lessons: {state}", count) for state, count in sorted(result["states"].items())),
        ("answers called learned and still wanted", known["learned"]),
        ("of these said word for word by the saved weights", known["said_word_for_word"]),
        ("bad ratings called learned", known["rejected"]),
        ("of these answers said all the same", known["said_all_the_same"]),
        ("lines in the owner's book, none torn or doubled", result["book_lines"]),
        ("lessons that waited after the last kill", result["waited"]),
        ("seconds from the last start until they were learned", result["catching_up_seconds"]),
    ]
    parts = [
        "One home, the 10M model in its worker process, and a session as in the app. Both "
        "processes are killed with `kill -9` at a random moment of a chosen phase.",
        table(("", "count"), facts),
        "Phases in which it was killed:",
        table(("phase", "kills"), phases),
    ]
    if known["missing"]:
        told = (f"- {x['question']}: {x['answer']} Said: {x['said']}" for x in known["missing"])
        parts += ["Called learned and not said:", "\n".join(told)]
    if result["problems"]:
        parts += ["Wrong:", "\n".join(f"- {what}" for what in result["problems"])]
    command = f"vidya bench crash --seed {result['seed']}"
    write(out, "crash", "Killed in the middle of everything", command, parts, result)


def main() -> None:
    """Entry point of `python -m benchmarks.crashes.crash [quick] [MINUTES]`."""
    options = BenchOptions(
        home=Path.home(),
        quick="quick" in sys.argv,
        out=None if "quick" in sys.argv else RESULTS,
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    numbers = [float(text) for text in sys.argv[1:] if text != "quick"]
    minutes = numbers[0] if numbers else math.inf
    print(json.dumps(measure(options, 3 if options.quick else KILLS, minutes), indent=1))


if __name__ == "__main__":
    main()
