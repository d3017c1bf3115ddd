"""vidya_tui.terminal.tty: keys pressed before the program reads them."""

from __future__ import annotations

import os
import pty
import sys
import termios
from collections.abc import Iterator

import pytest

from vidya_tui.terminal.tty import as_it_was, waiting_for_the_app


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input; the side that a person sits at."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        yield master
    os.close(master)


def shows(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def test_nothing_is_shown_enter_stays_enter_and_all_is_as_before_afterwards(terminal: int) -> None:
    before = termios.tcgetattr(terminal)
    with waiting_for_the_app():
        assert not shows(terminal)
        os.write(terminal, b"hello\r")
        assert os.read(sys.stdin.fileno(), 100) == b"hello\r"
        with as_it_was():
            assert termios.tcgetattr(terminal) == before
        assert not shows(terminal)
    assert termios.tcgetattr(terminal) == before


def test_a_mistake_leaves_the_terminal_as_it_was(terminal: int) -> None:
    with pytest.raises(ValueError), waiting_for_the_app():
        raise ValueError
    assert shows(terminal)


def test_where_there_is_no_terminal_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with waiting_for_the_app(), as_it_was():
            pass
