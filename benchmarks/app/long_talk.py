"""Measures how quickly a conversation of 2,000 turns opens, scrolls and takes input.

Runs the real app in a pseudo-terminal, as in latency.py; the conversation is written into the journal of a
scratch home. Left out: the model's answers (it sees only the end of the conversation).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import BenchOptions
from benchmarks.app.app_terminal import app
from benchmarks.app.terminal import Terminal
from benchmarks.app.typist import strokes, type_out
from benchmarks.common.processes import resident_bytes
from benchmarks.common.report import machine, median, spread, table, write
from benchmarks.common.scratch import scratch_home
from engine.config import Sampling
from learning.home import Home
from learning.journal.journal import Journal

TURNS, OPENINGS, PAGES, WHEELS, KEYS = 2000, 7, 120, 240, 200
QUICK = (200, 2, 10, 20, 20)
OPEN_BOUND, SCROLL_BOUND, KEY_BOUND = 1.0, 0.1, 0.1
"""Bounds in seconds: opening it, scrolling back one screen (p99), a key typed in it (p99)."""
WORDS = (
    "the",
    "river",
    "went",
    "over",
    "a",
    "small",
    "stone",
    "and",
    "it",
    "was",
    "quiet",
    "house",
)
PAGE_UP, WHEEL_UP = "\x1b[5~", "\x1b[<64;20;8M"


def run(options: BenchOptions) -> dict[str, Any]:
    """Measures; writes long_talk.md and long_talk.json if `options.out` is set."""
    where = machine()
    turns, openings, pages, wheels, keys = (
        QUICK if options.quick else (TURNS, OPENINGS, PAGES, WHEELS, KEYS)
    )
    with scratch_home(options) as (home, model):
        last = fill(home, turns)
        with app(home, model) as terminal:
            idle = resident_bytes(terminal.process.pid)
            opened = list(open_again_and_again(terminal, last, openings))
            options.say(f"opens in {median(opened):.3f} s, median of {openings}")
            typed = type_out(terminal, list(strokes(keys, random.Random(0)))).seconds
            terminal.press("\x15")
            terminal.rest(0.5)
            wheel = list(turn(terminal, WHEEL_UP, wheels, pause=0.04))
            page = list(turn(terminal, PAGE_UP, pages, pause=0.1))
            result: dict[str, Any] = {
                "benchmark": "long_talk",
                "machine": where,
                "quick": options.quick,
                "model": model,
                "turns": turns,
                "open": {**spread(opened), "all": opened},
                "page": spread(page),
                "wheel": spread(wheel),
                "keys": spread(typed),
                "memory": {"idle": idle, "after": resident_bytes(terminal.process.pid)},
            }
    result["bounds"] = [
        {"what": what, "limit": limit, "measured": measured, "met": measured <= limit}
        for what, limit, measured in (
            ("open, median", OPEN_BOUND, result["open"]["p50"]),
            ("page up, p99", SCROLL_BOUND, result["page"]["p99"]),
            ("a key typed in it, p99", KEY_BOUND, result["keys"]["p99"]),
        )
    ]
    if options.out is not None:
        words = options.command("long_talk")
        write(options.out, "long_talk", TITLE, words, parts(result), result)
    return result


def fill(home: Home, turns: int) -> str:
    """Writes a long conversation into the journal and a shorter one after it; returns its last message."""
    rng, now = random.Random(0), time.time()
    said = [[("user", "assistant")[at % 2], _words(rng, f"turn {at}")] for at in range(turns)]
    rows: list[dict[str, Any]] = [{"table": "conversations", "id": 1, "created": now}]
    for number, at in enumerate(range(0, turns, 2), 1):
        rows.append(
            {"table": "asks", "id": number, "conversation": 1, "history": said[:at]}
            | {"message": said[at][1], "sampling": Sampling().to_dict(), "seed": None}
            | {"created": now + number, "parent": number - 1 or None}
        )
        rows.append(
            {"table": "answers", "ask": number, "judgement": None, "text": said[at + 1][1]}
            | {"created": now + number}
        )
    journal = Journal(home.journal_path)
    journal.import_rows(rows)
    journal.close()
    return said[-1][1]


def _words(rng: random.Random, first: str) -> str:
    return " ".join([first, *rng.choices(WORDS, k=rng.randint(4, 30))])


def open_again_and_again(terminal: Terminal, last: str, count: int) -> Iterator[float]:
    """Yields the seconds from Enter in the history until the end of the conversation is on the screen."""
    words = " ".join(last.split()[:4])
    for _ in range(count):
        terminal.press("\x0f")  # ctrl+o
        terminal.wait(lambda: terminal.sees("turn 0"), 30, "the history did not open")
        terminal.rest(0.3)
        moment = terminal.press("\r")
        yield terminal.wait(lambda: terminal.sees(words), 60, "it did not open") - moment
        terminal.rest(0.5)
        terminal.press("\x0e")  # ctrl+n
        terminal.wait(lambda: not terminal.sees(words), 30, "no new conversation began")
    terminal.press("\x0f")
    terminal.wait(lambda: terminal.sees("turn 0"), 30, "the history did not open")
    terminal.press("\r")
    terminal.wait(lambda: terminal.sees(words), 60, "it did not open")
    terminal.rest(1.0)


def turn(terminal: Terminal, keys: str, count: int, *, pause: float) -> Iterator[float]:
    """Yields the seconds from a key press or a wheel event until the screen changes."""
    shown: Callable[[], str] = terminal.screen.text
    for _ in range(count):
        before = shown()
        moment = terminal.press(keys)
        seen = terminal.wait(lambda before=before: shown() != before, 10, "nothing moved")  # type: ignore[misc]
        yield seen - moment
        terminal.rest(max(0.0, pause - (seen - moment)))


TITLE = "A conversation of 2,000 turns"


def parts(result: dict[str, Any]) -> list[str]:
    """Text and tables of long_talk.md."""
    rows = [
        [name, result[key]["count"], *(result[key][way] * 1e3 for way in ("p50", "p99", "max"))]
        for name, key in (
            ("opening it from the history", "open"),
            ("page up", "page"),
            ("mouse wheel", "wheel"),
            ("a letter typed at its end", "keys"),
        )
    ]
    memory = result["memory"]
    idle, after = (
        None if memory[when] is None else memory[when] / 1e6 for when in ("idle", "after")
    )
    return [
        f"{result['turns']:,} turns of 4 to 30 words in one conversation, in the real app in a "
        "pseudo-terminal of 100x30; milliseconds from the key until the change is on the screen.",
        table(["what", "times", "p50", "p99", "max"], rows),
        table(
            ["memory of the app", "MB resident"],
            [["idle", idle], ["after the scrolling and typing", after]],
        ),
        table(
            ["bound", "seconds at most", "measured", "met"],
            [[b["what"], b["limit"], b["measured"], b["met"]] for b in result["bounds"]],
        ),
    ]
