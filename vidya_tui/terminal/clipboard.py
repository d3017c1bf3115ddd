"""The clipboard of this computer, beside that of the terminal: some terminals pass over OSC 52.

pyperclip does it, in a process of its own: the programs that it calls may never answer, and may write
over the screen. Where the owner sits at another computer (SSH) only the terminal can do it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

COPY = """
import sys, pyperclip
text = sys.stdin.buffer.read().decode()
pyperclip.copy(text)
sys.exit(pyperclip.paste().split() != text.split())
"""
"""Looks whether it is there: pyperclip does not ask the program that it calls."""
PATIENCE = 5.0
"""Seconds that it may take."""


def is_here(env: Mapping[str, str]) -> bool:
    """Whether the owner sits at this computer."""
    return not (env.get("SSH_CONNECTION") or env.get("SSH_TTY"))


def put(text: str) -> bool:
    """Puts a text there and waits; whether it is there now."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", COPY],
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            start_new_session=True,  # what holds the text goes on when the terminal is closed
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


class Clipboard:
    """Takes texts and returns at once; of several in a row the last one stays."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0

    def copy(self, text: str, done: Callable[[], object]) -> None:
        """done: called, in a thread, when the text is there."""
        self._newest += 1
        threading.Thread(
            target=self._copy, args=(self._newest, text, done), name="clipboard", daemon=True
        ).start()

    def _copy(self, number: int, text: str, done: Callable[[], object]) -> None:
        with self._lock:
            if number == self._newest and put(text):
                done()
