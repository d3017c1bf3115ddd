"""The latency harness: its typist, and the real app in a real pseudo-terminal. No times are asserted."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from benchmarks.app import latency
from benchmarks.app.app_terminal import app, worker_of
from benchmarks.app.latency_named import bounds_of_named, let_lessons_wait
from benchmarks.app.latency_report import bounds, parts
from benchmarks.app.terminal import Terminal, TerminalError
from benchmarks.app.typist import BACKSPACE, CLEAR, LONGEST, prompt_text, strokes, type_out
from benchmarks.common.processes import children, computing, cpu_seconds, resident_bytes
from benchmarks.common.report import machine, spread
from learning.home import Home
from learning.journal.journal import Journal

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")

ECHO = """
import sys, termios, tty
tty.setraw(0)
text = ""
def draw():
    box = "\\x1b[H\\x1b[2K\\u256d--\\u256e\\r\\n\\x1b[2K\\u2502 "
    print(box + text + " \\u2502", end="", flush=True)
draw()
while (c := sys.stdin.read(1)) != "\\x11":
    text = "" if c == "\\x15" else text[:-1] if c == "\\x7f" else text + c
    if c != "%s": draw()
"""
"""A prompt in a box, as the app has one; the letter in it is taken and never painted."""


def echo(dropped: str = "") -> Terminal:
    return Terminal([sys.executable, "-c", ECHO % dropped])


@pytest.mark.parametrize("seed", range(5))
def test_strokes_are_what_a_keyboard_would_give(seed: int) -> None:
    typed = list(strokes(200, random.Random(seed)))
    text = ""
    for stroke in typed:
        before = text.rstrip()
        if stroke.keys == CLEAR:
            text = ""
        elif stroke.keys == BACKSPACE:
            text = text[:-1]
        else:
            text += stroke.keys
        assert stroke.shown == text.rstrip()
        assert not stroke.timed or (stroke.shown and stroke.shown != before)
        assert len(text) <= LONGEST + 12 and stroke.after >= 0.05
    assert 198 <= sum(stroke.timed for stroke in typed) <= 202
    assert any(stroke.keys == BACKSPACE and stroke.timed for stroke in typed)
    gaps = [stroke.after for stroke in typed if stroke.after < 0.35]
    assert 5 < len(gaps) / sum(gaps) < 10  # keys a second while typing
    assert any(stroke.after > 0.5 for stroke in typed)


def test_strokes_repeat_with_their_seed() -> None:
    assert list(strokes(50, random.Random(3))) == list(strokes(50, random.Random(3)))


@pytest.mark.slow
def test_every_timed_stroke_is_seen_once() -> None:
    keys = list(strokes(40, random.Random(1)))
    with echo() as terminal:
        terminal.wait(lambda: terminal.sees("\u256d"), 20, "no box")
        typed = type_out(terminal, keys)
        assert prompt_text(terminal) == keys[-1].shown
    assert len(typed.seconds) == sum(stroke.timed for stroke in keys)
    assert min(typed.seconds) > 0 and typed.met == ()


def test_a_letter_that_never_comes_is_a_lost_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.app.typist.PATIENCE", 0.5)
    (stroke,) = list(strokes(1, random.Random(0)))
    with echo(dropped=stroke.keys) as terminal:
        terminal.wait(lambda: terminal.sees("\u256d"), 20, "no box")
        with pytest.raises(TerminalError, match="a key was lost"):
            type_out(terminal, [stroke])


def test_a_program_that_ends_is_told_with_what_it_said() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    with (
        Terminal(command) as terminal,
        pytest.raises(TerminalError, match=r"ended with status 1(.|\n)*no such thing"),
    ):
        terminal.wait(lambda: False, 20, "never")


@linux
def test_processes_are_looked_at() -> None:
    with echo() as terminal:
        terminal.wait(lambda: terminal.sees("\u256d"), 20, "no box")
        pid = terminal.process.pid
        assert (resident_bytes(pid) or 0) > 1_000_000
        assert (cpu_seconds(pid) or 0) >= 0.0
    assert resident_bytes(pid) is None and cpu_seconds(pid) is None
    assert not computing(pid) and children(pid) == []


@pytest.mark.slow
@linux
def test_the_real_app_is_started_and_typed_into(tmp_path: Path) -> None:
    home, model = latency.Home(tmp_path / "home"), "10m"
    with app(home, model) as terminal:
        worker = worker_of(terminal)
        assert (resident_bytes(worker) or 0) > (resident_bytes(terminal.process.pid) or 0) > 0
        keys = list(strokes(6, random.Random(0)))
        typed = type_out(terminal, keys, worker=worker)
        assert len(typed.seconds) == sum(stroke.timed for stroke in keys)
        assert prompt_text(terminal) == keys[-1].shown
    assert terminal.process.returncode == 0
    assert cpu_seconds(worker) is None  # it did not outlive the app


def test_training_is_read_from_the_first_line() -> None:
    class Fake:
        def row(self, _: int) -> str:
            words = "book, epoch 3 of 200, loss 0.41, 40 s left"
            return f" vidya   \u2501\u2500 5 % {words} \u00b7 book recall 99 %"

    class Terminal_:  # noqa: N801
        screen = Fake()

    words = latency.training_words(Terminal_())  # type: ignore[arg-type]
    assert words == "book, epoch 3 of 200, loss 0.41, 40 s left"


def test_frames_are_counted_while_answers_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten frames a second of two writes each, for half a second in which answers stream."""
    now, wrote = [100.05], list[float]()

    class Painting:
        def read(self, seconds: float) -> bool:
            now[0] += 0.001
            frame = round(now[0] * 1000) % 100
            return frame in (0, 2)

    def footer(terminal: object) -> str:
        return "esc stop" if now[0] < 100.55 else "1 pick"

    monkeypatch.setattr(latency.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(latency, "footer", footer)
    painting: object = Painting()
    rate = latency.frames(painting, lambda: wrote.append(now[0]), 1.0)  # type: ignore[arg-type]
    assert rate == pytest.approx(10.0, abs=0.2)
    assert len(wrote) >= 900, "what keeps them streaming is called all the while"
    assert latency.frames(painting, lambda: None, 0.5) is None  # type: ignore[arg-type]


def test_bounds_and_words() -> None:
    keys = spread([0.01] * 98 + [0.05, 0.06])

    def condition(name: str) -> dict[str, object]:
        return {
            "name": name,
            "keys": keys,
            "keys_that_met_the_worker": spread([]),
            "worker_cores": 0.5,
            "load_average": 1.5,
        }

    frame = spread([0.3, 0.4, 0.6])
    result = {
        "machine": machine(),
        "start": {
            "first_ever": 0.9,
            "first_frame": frame,
            "own_first_frame": spread([0.5, 0.5, 0.6]),
            "own_first_frame_cpu": frame,
            "first_letter": frame,
            "model_awake": frame,
        },
        "conditions": [
            condition("idle"),
            {**condition("streaming"), "frames_per_second": 11.96},
            condition("training"),
        ],
        "memory": {
            "idle": {"app": 45_000_000, "worker": None},
            "after": {"exchanges": 500, "app": 60_000_000, "worker": None},
        },
        "skipped": ["training 49m: left out by --quick"],
    }
    result["bounds"] = bounds(result["start"], result["conditions"])  # type: ignore[arg-type]
    assert [(b["limit"], b["measured"], b["met"]) for b in result["bounds"]] == [  # type: ignore[attr-defined]
        (0.4, 0.4, True),
        (0.4, 0.5, False),
        (0.040, 0.05, False),
    ]
    text = "\n".join(parts(result))
    assert "| idle | 100 | 10 | 10 | 50 | 60 | 0 | \u2013 | 0.5 | 1.5 |" in text
    assert "| app | 45 | 60 |" in text and "| worker | \u2013 | \u2013 |" in text
    assert "after 500 exchanges" in text
    assert "While streaming and nobody types, the screen is drawn 12.0 times a second." in text
    assert "Left out: training 49m: left out by --quick." in text


def test_the_bounds_of_a_named_model() -> None:
    memory = {"idle": {"app": 50_000_000, "worker": 1_000_000_000}}
    learning = {"name": "learning", "keys": {"p99": 0.031}}
    rows = bounds_of_named(memory, [{"name": "idle", "keys": {"p99": 9.0}}, learning], 2.0)
    assert [(row["measured"], row["met"]) for row in rows] == [
        (1_050_000_000, True),
        (2.0, True),
        (0.031, False),
    ]


def test_more_lessons_wait_than_are_learned_meanwhile(tmp_path: Path) -> None:
    home = Home(tmp_path)
    let_lessons_wait(home)
    assert len(Journal(home.journal_path).waiting()) > 20
