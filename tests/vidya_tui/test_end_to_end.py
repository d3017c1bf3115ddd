"""The whole program in a pseudo-terminal, its model in its own process: a tiny one, and the real one."""

from __future__ import annotations

import os
import re
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.app.terminal import Terminal
from benchmarks.app.typist import prompt_text
from benchmarks.crashes.crash_look import known
from learning.home import Home
from learning.journal.journal import Journal
from tests.vidya_tui.shell import BOOK

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
LONG = 200.0
"""Seconds that an epoch of the real book may take on a machine with other work: within a test's time limit,
so that a failure shows the screen."""
ENOUGH = 60
"""Epochs of book training in which the tiny model learns its whole short book. If training ends sooner, the
model may know fewer lines than before it, and the guard rolls the training back."""
SMALL = """
import os, pathlib, sys
import personality.book
personality.book.shipped_book_path = lambda: pathlib.Path(os.environ["SHORT_BOOK"])
if "vidya_tui.worker.main" in sys.orig_argv:  # what so small a model needs
    import learning.lessons.learner
    from learning.lessons.batch import Mixture
    learned = learning.lessons.learner.TeachSettings(
        lr=3e-3, steps=60, repair=40, talk_weight=1.0, mixture=Mixture(batch=12, talk=2)
    )
    learning.lessons.learner.TeachSettings = lambda: learned
"""
"""A short book in place of the shipped one, and lessons fit for 100,000 weights."""


@pytest.fixture
def home(tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Home:
    import torch

    from engine.storage.checkpoint import save_model

    (tmp_path / "book.txt").write_text(BOOK)
    (tmp_path / "sitecustomize.py").write_text(SMALL)
    home = Home(tmp_path / "home")
    folder = home.models_path / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    home.settings_path.write_text(
        'model = "tiny"\nmax_tokens = 12\ntemperature = 0\ncandidates = 3\n'
    )
    return home


def start(home: Home, tmp_path: Path) -> Terminal:
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": path, "SHORT_BOOK": str(tmp_path / "book.txt")}
    return Terminal([sys.executable, "-m", "vidya_tui", "--home", str(home.path)], env=env)


def see(terminal: Terminal, words: str) -> None:
    terminal.wait(lambda: terminal.sees(words), PATIENCE, words)


def say(terminal: Terminal, text: str) -> None:
    terminal.press(text)
    see(terminal, text)
    terminal.press("\r")


def pickable(terminal: Terminal) -> str:
    """The number of a card with text, once all have ended."""
    numbers = re.findall(r"(?m)^ ([1-5]) (?!\(said nothing\))", terminal.screen.text())
    return str(numbers[0])


def teach_and_leave(
    terminal: Terminal, question: str, answer: str, epochs: int, candidates: int
) -> None:
    """What an owner does on the first day."""
    see(terminal, "welcome 1/4")
    terminal.press("\x1b")
    terminal.wait(lambda: not terminal.sees("welcome"), PATIENCE, "no welcome")
    say(terminal, question)
    terminal.wait(
        lambda: terminal.screen.text().count("% sure") == candidates, PATIENCE, "every answer"
    )
    see(terminal, " pick f2")  # a model with random weights may leave a card empty
    number = pickable(terminal)
    terminal.press(number)
    see(terminal, f"preferred {number} over")
    say(terminal, f"/correct {answer}")
    see(terminal, f"will answer \u201c{answer}\u201d \u00b7 learned in")
    terminal.press("\x1b[1;3A")  # alt+up
    see(terminal, "rated good")
    terminal.wait(lambda: not terminal.sees("waiting"), PATIENCE, "no lesson waits")
    say(terminal, f"/train {epochs}")
    terminal.wait(lambda: terminal.sees(f"trained after {epochs} epoch"), LONG, "no end of it")
    say(terminal, "/undo")
    see(terminal, "took back lesson")
    terminal.press("\x11")  # ctrl+q
    with pytest.raises(Exception, match="the program ended with status 0"):
        terminal.rest(PATIENCE)


def states(home: Home) -> dict[str, str]:
    """Of the lessons, by their kind."""
    journal = Journal(home.journal_path)
    found = {lesson.kind: lesson.state for lesson in journal.lessons() if lesson.judgement}
    journal.close()
    return dict(found)


def test_ask_pick_correct_rate_train_undo_quit_and_it_is_known(home: Home, tmp_path: Path) -> None:
    with start(home, tmp_path) as terminal:
        teach_and_leave(terminal, "hello there", "Good day.", ENOUGH, candidates=3)
    assert states(home)["correction"] == "learned" and states(home)["rating"] == "undone"
    with start(home, tmp_path) as terminal:
        see(terminal, "Say something")
        assert not terminal.sees("welcome 1/4")
        terminal.press("\x1b[200~a red \x1b[31m3 of 5\x1b[0m\nand more\x1b[201~")
        see(terminal, "a red \u241b[31m3 of 5\u241b[0m")  # one text, of which nothing was a key
        see(terminal, "and more")
        terminal.press("\x15\x7f\x15")  # ctrl+u, backspace, ctrl+u
        see(terminal, "Say something")
        say(terminal, "hello there")
        see(terminal, "Good day.")


def test_a_training_that_is_left_goes_on_at_the_next_start(home: Home, tmp_path: Path) -> None:
    home.welcomed_path.touch()
    with start(home, tmp_path) as terminal:
        see(terminal, "Say something")
        say(terminal, "/train 1000")
        see(terminal, "of 1000, loss")
        terminal.wait(lambda: not terminal.sees("epoch 1 of"), PATIENCE, "the second epoch")
        terminal.press("half a thought")
        see(terminal, "half a thought")
        terminal.press("\x11")  # ctrl+q
        with pytest.raises(Exception, match="the program ended with status 0"):
            terminal.rest(PATIENCE)
    with start(home, tmp_path) as terminal:
        see(terminal, "book training was interrupted")
        see(terminal, "half a thought")
        terminal.press("\x1b[15~")  # f5
        see(terminal, "of 1000, loss")
        assert not terminal.sees("book, epoch 1 of")


def test_the_same_with_the_model_that_comes_with_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    command = [sys.executable, "-m", "vidya_tui", "--home", str(home.path)]
    question, answer = "What is my cat called?", "Your cat is called Pixel."
    with Terminal(command) as terminal:
        teach_and_leave(terminal, question, answer, 1, candidates=5)
    assert states(home)["correction"] == "learned" and states(home)["rating"] == "undone"
    assert known(home, "10m")["said_word_for_word"] == 1, "greedy decoding says it"
    with Terminal(command) as terminal:
        see(terminal, "Say something")
        say(terminal, question)
        see(terminal, answer)  # the likeliest answer is always among the five


@pytest.mark.parametrize("rest", [0.0, 0.2, 0.4])
def test_what_is_typed_while_the_app_starts_is_said(
    home: Home, tmp_path: Path, rest: float
) -> None:
    home.welcomed_path.touch()
    with start(home, tmp_path) as terminal:
        terminal.wait(lambda: not echoes(terminal), PATIENCE, "the program has begun")
        terminal.rest(rest)
        terminal.press("hello there\r")
        see(terminal, "You    hello there")
        see(terminal, " pick f2")


def echoes(terminal: Terminal) -> bool:
    """Whether the terminal echoes typed characters."""
    return bool(termios.tcgetattr(terminal.fileno)[3] & termios.ECHO)


def test_an_unsent_line_from_before_the_program_is_in_the_prompt(
    home: Home, tmp_path: Path
) -> None:
    home.welcomed_path.touch()
    with start(home, tmp_path) as terminal:
        terminal.press("hello there")  # before Python itself has begun
        terminal.wait(lambda: prompt_text(terminal) == "hello there", PATIENCE, "the words")
