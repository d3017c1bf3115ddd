"""What `vidya bench latency --model NAME` measures besides: memory, first token, keys while the model learns.

Left out: the typing itself (latency.py).
"""

from __future__ import annotations

import re
import time
from typing import Any

from benchmarks import DATA
from benchmarks.app.app_terminal import app
from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.common.processes import cpu_seconds
from learning.data.lesson_file import read_lessons
from learning.home import Home
from learning.journal.journal import Journal

MEMORY_BOUND, LEARN_BOUND, TOKEN_BOUND = 1.2e9, 0.030, 3.0
"""Bytes of app and worker when idle; p99 of a key while the model learns lessons, and from the first message
to the first text of an answer, in seconds."""
LESSONS = DATA / "lessons_tune.jsonl"
_CARD = re.compile(r" [1-5] [A-Za-z]")
"""The beginning of an answer on its card."""


def learning(terminal: Terminal, worker: int, quick: bool) -> Any:
    """Learns the lessons that wait in the journal (let_lessons_wait)."""
    began = cpu_seconds(worker) or 0.0

    def after() -> dict[str, Any]:
        spent = (cpu_seconds(worker) or 0.0) - began
        if spent < 0.2:
            raise TerminalError("the worker does not learn", "its log is vidya.log in the home")
        return {"worker_seconds": spent}

    return (lambda: None), after


def measure_first_token(home: Home, model: str) -> float:
    """Seconds from the first message of a start to the first text of an answer."""
    home.settings_path.write_text("", "utf-8")
    with app(home, model) as terminal:
        words = "Hello, who are you?"
        terminal.press(words)
        terminal.wait(lambda: terminal.sees(words), 30, "the words did not come")
        before = len(_CARD.findall(terminal.screen.text()))
        terminal.press("\r")
        sent = time.perf_counter()
        came = terminal.wait(
            lambda: len(_CARD.findall(terminal.screen.text())) > before, 60, "no answer came"
        )
        return came - sent


def let_lessons_wait(home: Home) -> None:
    """Puts lessons into the journal, more than are learned meanwhile."""
    journal = Journal(home.journal_path)
    journal.add_lessons(read_lessons(LESSONS))
    journal.close()


def bounds_of_named(
    memory: dict[str, dict[str, Any]], conditions: list[dict[str, Any]], first: float
) -> list[dict[str, Any]]:
    """The same for a named model; the memory in bytes."""
    rows = [
        ("app and worker when idle, bytes", MEMORY_BOUND, sum(memory["idle"].values())),
        ("first message to first text", TOKEN_BOUND, first),
        *(
            ("key while it learns, p99", LEARN_BOUND, c["keys"]["p99"])
            for c in conditions
            if c["name"] == "learning"
        ),
    ]
    return [
        {"what": what, "limit": limit, "measured": measured, "met": measured <= limit}
        for what, limit, measured in rows
    ]
