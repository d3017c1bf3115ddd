"""Copies to the system clipboard, in addition to the terminal's own (OSC 52), which some terminals ignore.

Uses pyperclip in a separate process, because the programs that it calls may hang or write to the screen.
Over SSH only the terminal can reach the owner's clipboard.
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
"""Copies and reads back, because pyperclip does not check the result of the program that it calls."""
PATIENCE = 5.0
"""Time limit for one copy, in seconds."""


def is_here(env: Mapping[str, str]) -> bool:
    """True if the owner uses this computer directly, not over SSH."""
    return not (env.get("SSH_CONNECTION") or env.get("SSH_TTY"))


def put(text: str) -> bool:
    """Copies a text and waits; True if the clipboard now has it."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", COPY],
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            start_new_session=True,  # the process that owns the clipboard outlives the terminal
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


class Clipboard:
    """Copies texts in the background; of several in quick succession, the last one wins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0

    def copy(self, text: str, done: Callable[[], object]) -> None:
        """Returns at once. done: called from a thread once the clipboard has the text."""
        self._newest += 1
        threading.Thread(
            target=self._copy, args=(self._newest, text, done), name="clipboard", daemon=True
        ).start()

    def _copy(self, number: int, text: str, done: Callable[[], object]) -> None:
        with self._lock:
            if number == self._newest and put(text):
                done()
