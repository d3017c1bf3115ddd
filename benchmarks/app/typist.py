"""Types like a person and measures when each letter appears.

Keys follow a clock and do not wait for the previous letter: a person does not wait either, and a screen that
hangs must delay all keys pressed meanwhile.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.common.processes import computing

_WORDS = """
    what where when why how the a river moon word letter bread morning think know like said
    would could about over under small great old new warm cold quiet evening name house garden
"""
LONGEST = 64
"""Letters in the prompt after which it is cleared, so that it does not wrap."""
BACKSPACE, CLEAR = "\x7f", "\x15"
PATIENCE = 10.0
"""Seconds after which a key counts as lost."""


@dataclass(frozen=True)
class Stroke:
    """One key press."""

    after: float
    """Seconds since the previous one."""
    keys: str
    shown: str
    """The prompt's text after it, without trailing spaces."""
    timed: bool = True
    """False if the text does not change, so that its time cannot be measured."""


def strokes(count: int, rng: random.Random) -> Iterator[Stroke]:
    """Yields key presses, `count` of them timed: about 8 per second, with occasional mistyped letters that
    are deleted again, and rests of 0.4 to 1.2 s after about every second word.

    The rests matter, because the learner pauses during typing and resumes in them.
    """
    text, left = "", count
    while left > 0:
        if len(text) > LONGEST:
            text = ""
            yield Stroke(0.3, CLEAR, "", timed=False)
            yield Stroke(0.3, "", "", timed=False)
        if text:
            text += " "
            yield Stroke(_gap(rng), " ", text.rstrip(), timed=False)
        for place, letter in enumerate(rng.choice(_WORDS.split())):
            resting = place == 0 and rng.random() < 0.5
            rest = rng.uniform(0.4, 1.2) if resting else 0.0
            if rng.random() < 0.08 and left >= 3:
                wrong = rng.choice([x for x in "etaoinshrdlu" if x != letter])
                yield Stroke(rest + _gap(rng), wrong, text + wrong)
                # if the prompt becomes empty, it shows the hint, so this cannot be timed
                yield Stroke(_gap(rng) + 0.1, BACKSPACE, text.rstrip(), timed=bool(text))
                rest, left = 0.0, left - (2 if text else 1)
            text += letter
            yield Stroke(rest + _gap(rng), letter, text)
            left -= 1
            if left <= 0:
                return


def _gap(rng: random.Random) -> float:
    return min(0.4, max(0.05, rng.lognormvariate(-2.16, 0.3)))  # median 0.115 s


@dataclass(frozen=True)
class Typed:
    """Measurements of typing."""

    seconds: tuple[float, ...]
    """For every timed key, from writing the byte to reading the letter on the screen."""
    met: tuple[float, ...]
    """The same for the keys pressed while the worker was computing."""
    took: float
    """Total time in seconds."""


@dataclass
class _Waiting:
    stroke: Stroke
    struck: float
    met: bool


def prompt_text(terminal: Terminal) -> str:
    """The first line in the prompt's box: the lowest box on the screen."""
    screen = terminal.screen
    for y in range(screen.lines - 2, -1, -1):
        if screen.row(y)[:1] == "\u256d":
            return screen.row(y + 1).strip("\u2502").strip()
    return ""


def type_out(
    terminal: Terminal,
    keys: Sequence[Stroke],
    *,
    worker: int | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Typed:
    """Types all keys and calls `meanwhile` between them. Raises TerminalError for a lost key."""
    seconds: list[float] = []
    met: list[float] = []
    waiting: deque[_Waiting] = deque()
    seen = prompt_text(terminal)

    def look() -> None:
        """Marks key presses as seen. If two lead to the same text, marks the earlier one, so that text which
        is on the screen already never counts for a later key."""
        nonlocal seen
        now, shown = time.perf_counter(), prompt_text(terminal)
        if shown == seen:
            return
        for place, one in enumerate(waiting):
            if one.stroke.shown == shown:
                seen = shown
                for _ in range(place + 1):
                    done = waiting.popleft()
                    if done.stroke.timed:
                        seconds.append(now - done.struck)
                        if done.met:
                            met.append(now - done.struck)
                return

    began = due = time.perf_counter()
    for stroke in keys:
        due = max(due + stroke.after, time.perf_counter() - 1.0)
        while (left := due - time.perf_counter()) > 0:
            if terminal.read(left):
                look()
        meanwhile()
        busy = worker is not None and computing(worker)
        if stroke.keys == CLEAR:
            _settle(terminal, waiting, look)
            terminal.press(CLEAR)
        elif not stroke.keys:
            seen = ""  # cleared; the prompt shows the hint
        else:
            waiting.append(_Waiting(stroke, terminal.press(stroke.keys), busy))
    _settle(terminal, waiting, look)
    return Typed(tuple(seconds), tuple(met), time.perf_counter() - began)


def _settle(terminal: Terminal, waiting: deque[_Waiting], look: Callable[[], None]) -> None:
    """Waits until every timed key was seen."""
    end = time.perf_counter() + PATIENCE
    while any(one.stroke.timed for one in waiting):
        if time.perf_counter() > end:
            wanted = next(one.stroke.shown for one in waiting if one.stroke.timed)
            raise TerminalError(
                f"a key was lost: waited for {wanted!r}; the screen is\n{terminal.screen.text()}",
                "run the app by hand and look",
            )
        if terminal.read(0.05):
            look()
    waiting.clear()
