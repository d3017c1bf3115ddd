"""Measures the app's latency: from its start to the first frame, and from a key press to its letter.

Runs the real app with its real worker in a pseudo-terminal. A key is written as a byte and counts as shown
when the letter is on the screen of a small terminal emulator, whose own time is included. Left out: the
owner's terminal and connection.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks import BenchOptions
from benchmarks.app import latency_named
from benchmarks.app.app_terminal import (
    app,
    exchange,
    footer,
    rest_until_quiet,
    wait_awake,
    wait_frame,
    worker_of,
)
from benchmarks.app.latency_report import LARGE, TITLE, bounds, parts
from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.app.typist import CLEAR, prompt_text, strokes, type_out
from benchmarks.common.processes import cpu_seconds, resident_bytes
from benchmarks.common.report import machine, median, spread, write
from benchmarks.common.scratch import DEFAULT_MODEL, random_model, scratch_home
from learning.home import Home

KEYS, STARTS = 600, 7
QUICK_KEYS, QUICK_STARTS = 40, 2
BABBLER, LARGE_BABBLER = "babbler", "babbler-49m"
"""Models with random weights, which never end an answer, so that answers stream all the time."""
_EPOCH = re.compile(r"book, epoch \d+ of \d+, loss [\d.]+, [^\u2502]*left")
TURNS, QUICK_TURNS, NAMED_TURNS = 500, 5, 50
"""Exchanges between the two measurements of memory."""
MOST_REST = 120.0
"""Seconds that an idle worker is waited for."""
WATCHED, QUICK_WATCHED = 10.0, 1.0
"""Seconds of streaming without key presses in which frames are counted."""
APART = 0.005
"""Least seconds between two outputs that count as two frames."""
SHORT = "candidates = 1\nmax_tokens = 8\n"
"""Settings for quick exchanges."""
STREAMING = "max_tokens = 200\n"
"""Settings for long answers."""


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures everything; writes latency.md and latency.json if `options.out` is set. With a model named,
    what hangs on the model: memory, first token, keys while it learns; in latency_NAME.md and .json."""
    count = QUICK_KEYS if options.quick else KEYS
    where = machine()
    conditions: list[dict[str, Any]] = []
    with scratch_home(options) as (home, model):
        starts = measure_starts(home, model, QUICK_STARTS if options.quick else STARTS, options)
        memory = measure_memory(home, model, options)
        first = (
            latency_named.measure_first_token(home, model) if options.model is not None else None
        )
        stem = options.stem("latency")

        def so_far(*skipped: str) -> dict[str, Any]:
            """Writes the results so far, so that an interrupted run leaves something."""
            where["load_average_after"] = machine()["load_average"]
            result = {
                "benchmark": "latency",
                "machine": where,
                "quick": options.quick,
                "model": model,
                "start": starts,
                "conditions": conditions,
                "memory": memory,
                "first_token": first,
                "bounds": bounds(starts, conditions)
                if first is None
                else latency_named.bounds_of_named(memory, conditions, first),
                "skipped": list(skipped),
            }
            if options.out is not None:
                command = options.command("latency")
                write(options.out, stem, TITLE, command, parts(result), result)
            return result

        random_model(home, BABBLER, DEFAULT_MODEL)
        plan = [("idle", idle, model), ("training", training, model)]
        plan += [("streaming", streaming, BABBLER)]
        if options.model is not None:
            plan = [("idle", idle, model), ("learning", latency_named.learning, model)]
        elif not options.quick:
            random_model(home, LARGE, LARGE)
            random_model(home, LARGE_BABBLER, LARGE)
            plan += [(f"training {LARGE}", training, LARGE)]
            plan += [(f"streaming {LARGE}", streaming, LARGE_BABBLER)]
        for name, work, chosen in plan:
            conditions.append(_condition(name, work, home, chosen, count, options))
            so_far("the run was interrupted before it came to the end")
    left_out = options.quick and options.model is None
    return so_far(*([f"{LARGE}: left out by --quick"] if left_out else []))


# ---------------------------------------------------------------- measures


def measure_starts(home: Home, model: str, count: int, options: BenchOptions) -> dict[str, Any]:
    """Seconds from the start to the first frame, to a letter typed at once after it, and to the loaded
    model. Each start is measured twice: with the frame saved by the previous start
    (vidya_tui.terminal.first_frame), and without, when the app must load first. The first start, which
    creates the journal and may read the program from disk, is reported separately."""
    frames, own, letters, awake, spent = [], [], [], [], []
    home.settings_path.write_text(f"model = {json.dumps(model)}\n", "utf-8")
    for _ in range(count + 1):
        home.first_frame_path.unlink(missing_ok=True)
        with _started(home) as terminal:
            own.append(wait_frame(terminal))
            spent.append(cpu_seconds(terminal.process.pid) or 0.0)
            wait_awake(terminal)
        with _started(home) as terminal:
            frames.append(wait_frame(terminal))
            letters.append(_letter(terminal) - terminal.started)
            wait_awake(terminal)
            awake.append(time.perf_counter() - terminal.started)
    options.say(
        f"first frame {median(frames[1:]):.3f} s, the app's own {median(own[1:]):.3f} s, "
        f"medians of {count}"
    )
    return {
        "first_ever": own[0],
        "first_frame": {**spread(frames[1:]), "all": frames[1:]},
        "own_first_frame": {**spread(own[1:]), "all": own[1:]},
        "own_first_frame_cpu": spread(spent[1:]),
        "first_letter": spread(letters[1:]),
        "model_awake": spread(awake[1:]),
    }


def _letter(terminal: Terminal) -> float:
    """Types a letter; returns the time at which it is on the screen."""
    terminal.press("v")
    seen = terminal.wait(lambda: prompt_text(terminal) == "v", 60, "no letter came")
    terminal.press(CLEAR)
    return seen


def _started(home: Home) -> Terminal:
    """Starts the app like `vidya`."""
    return Terminal([sys.executable, "-m", "vidya_tui"], env={"VIDYA_HOME": str(home.path)})


def measure_memory(home: Home, model: str, options: BenchOptions) -> dict[str, dict[str, Any]]:
    """Resident bytes of both processes when the worker has become quiet after the start, and again after
    TURNS exchanges in one conversation."""
    home.settings_path.write_text(SHORT, "utf-8")
    with app(home, model) as terminal:
        pids = {"app": terminal.process.pid, "worker": worker_of(terminal)}
        quiet = rest_until_quiet(terminal, pids["worker"], MOST_REST)
        idle = {name: resident_bytes(pid) for name, pid in pids.items()}
        turns = QUICK_TURNS if options.quick else TURNS if options.model is None else NAMED_TURNS
        for number in range(turns):
            exchange(terminal, f"exchange {number}")
        quiet = rest_until_quiet(terminal, pids["worker"], MOST_REST) and quiet
        after = {name: resident_bytes(pid) for name, pid in pids.items()}
    if not quiet:
        options.say(
            f"the worker was not quiet within {MOST_REST:.0f} s: memory is not of an idle one"
        )
    options.say(f"memory after {turns} exchanges: {after['app']} bytes, {idle['app']} at first")
    return {"idle": idle, "after": {"exchanges": turns, **after}}


Work = Callable[[Terminal, int, bool], "tuple[Callable[[], None], Callable[[], dict[str, Any]]]"]
"""Starts background work: (terminal, worker's pid, quick) -> (a function to call between keys, one to call
after them, which returns figures and raises TerminalError if the work had stopped)."""


def idle(terminal: Terminal, worker: int, quick: bool) -> Any:
    """No background work."""
    return (lambda: None), (lambda: {})


def streaming(terminal: Terminal, worker: int, quick: bool) -> Any:
    """Streams five answers, and requests others as soon as they have ended."""
    terminal.press("tell me about the river")
    terminal.rest(0.3)
    terminal.press("\r")
    terminal.wait(lambda: terminal.sees(" 5 "), 60, "no answers came")
    asked, last = 0, time.perf_counter()

    def meanwhile() -> None:
        nonlocal asked, last
        if "stop" not in footer(terminal) and time.perf_counter() - last > 0.3:
            terminal.press("\x12")  # ctrl+r: other answers
            asked, last = asked + 1, time.perf_counter()

    def after() -> dict[str, Any]:
        if not asked and not quick:
            raise TerminalError("the answers did not stream again and again", "look at ctrl+r")
        asks = asked + 1
        painted = frames(terminal, meanwhile, QUICK_WATCHED if quick else WATCHED)
        return {"asks": asks, "frames_per_second": painted}

    return meanwhile, after


def frames(terminal: Terminal, meanwhile: Callable[[], None], seconds: float) -> float | None:
    """Frames per second while answers stream; None if none streamed. Outputs less than APART apart belong
    to one frame."""
    count, spent, last = 0, 0.0, 0.0
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        meanwhile()
        streams = "stop" in footer(terminal)
        came = terminal.read(0.02)
        before, now = now, time.perf_counter()
        if streams:
            spent += now - before
            count += came and now - last > APART
        if came:
            last = now
    return count / spent if spent else None


def training(terminal: Terminal, worker: int, quick: bool) -> Any:
    """Trains on the book for many epochs."""
    terminal.press("/train 200")
    terminal.rest(0.3)
    terminal.press("\r")
    terminal.wait(lambda: training_words(terminal) != "", 600, "the training did not begin")
    shown: dict[str, None] = {training_words(terminal): None}

    def meanwhile() -> None:
        shown[training_words(terminal)] = None

    def after() -> dict[str, Any]:
        """Checks that the training still makes progress, without pressing keys."""
        before, moment = cpu_seconds(worker), time.perf_counter()
        last = training_words(terminal)
        terminal.wait(
            lambda: training_words(terminal) not in ("", last), 60, "the training stands still"
        )
        spent, passed = cpu_seconds(worker), time.perf_counter() - moment
        if before is None or spent is None or spent <= before:
            raise TerminalError("the worker does not train", "its log is vidya.log in the home")
        return {
            "progress_seen": len(shown),
            "cores_after": (spent - before) / passed if passed > 0.2 else None,
        }

    return meanwhile, after


def training_words(terminal: Terminal) -> str:
    """The learning panel's text on the training; empty if there is none."""
    found = _EPOCH.search(terminal.screen.row(0))
    return found[0] if found else ""


def _condition(
    name: str, work: Work, home: Home, model: str, count: int, options: BenchOptions
) -> dict[str, Any]:
    """Measures key presses during background work."""
    settings = home.settings_path
    settings.write_text(STREAMING if work is streaming else "", "utf-8")
    if work is latency_named.learning:
        latency_named.let_lessons_wait(home)
    latencies: list[float] = []
    met: list[float] = []
    took = spent = 0.0
    found: dict[str, Any] = {}
    with app(home, model) as terminal:
        worker = worker_of(terminal)
        meanwhile, after = work(terminal, worker, options.quick)
        began = cpu_seconds(worker) or 0.0
        for seed in options.seeds:
            keys = list(strokes(count, random.Random(seed)))
            typed = type_out(terminal, keys, worker=worker, meanwhile=meanwhile)
            latencies += typed.seconds
            met += typed.met
            took += typed.took
            terminal.press("\x15")
            terminal.rest(0.3)
        spent = (cpu_seconds(worker) or 0.0) - began
        found = after()
    result = {
        "name": name,
        "model": model,
        "seconds": took,
        "keys": spread(latencies),
        "keys_that_met_the_worker": spread(met),
        "worker_cores": spent / took,
        "load_average": machine()["load_average"],
        **found,
    }
    keys = result["keys"]
    options.say(
        f"{name}: {keys['count']} keys, p50 {keys['p50'] * 1e3:.1f} ms, "
        f"p99 {keys['p99'] * 1e3:.1f} ms, max {keys['max'] * 1e3:.1f} ms"
    )
    return result
