"""The whole program in a pseudo-terminal, with a real (tiny) model in its own process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.terminal import Terminal
from learning.home import Home
from learning.journal import Journal
from tests.vidya_tui.shell import BOOK

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
SMALL = """
import functools, os, pathlib, sys
import personality.book
personality.book.shipped_book_path = lambda: pathlib.Path(os.environ["SHORT_BOOK"])
if "vidya_tui.worker_main" in sys.orig_argv:  # what so small a model needs
    import learning.learner
    settings = learning.learner.TeachSettings
    learning.learner.TeachSettings = functools.partial(settings, lr=3e-3, steps=60, repair=40)
"""
"""A short book in place of the shipped one, and lessons fit for 100,000 weights."""


@pytest.fixture
def home(tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer) -> Home:
    import torch

    from engine.checkpoint import save_model

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


def test_ask_pick_correct_rate_train_undo_quit_and_it_is_known(home: Home, tmp_path: Path) -> None:
    with start(home, tmp_path) as terminal:
        see(terminal, "welcome 1/4")
        terminal.press("\x1b")
        terminal.wait(lambda: not terminal.sees("welcome"), PATIENCE, "no welcome")
        say(terminal, "hello there")
        see(terminal, "123 pick")
        terminal.press("2")
        see(terminal, "preferred 2 over")
        say(terminal, "/correct Good day.")
        see(terminal, "will answer \u201cGood day.\u201d \u00b7 learned in")
        terminal.press("\x07")  # ctrl+g
        see(terminal, "rated good")
        terminal.wait(lambda: not terminal.sees("waiting"), PATIENCE, "no lesson waits")
        say(terminal, "/train 2")
        see(terminal, "trained after 2 epochs")
        say(terminal, "/undo")
        see(terminal, "took back lesson")
        terminal.press("\x11")  # ctrl+q
        with pytest.raises(Exception, match="the program ended with status 0"):
            terminal.rest(PATIENCE)
    journal = Journal(home.journal_path)
    lessons = {lesson.kind: lesson.state for lesson in journal.lessons() if lesson.judgement}
    journal.close()
    assert lessons["correction"] == "learned" and lessons["rating"] == "undone"
    with start(home, tmp_path) as terminal:
        see(terminal, "Say something")
        assert not terminal.sees("welcome 1/4")
        say(terminal, "hello there")
        see(terminal, "Good day.")
