"""Controls what the terminal does with keys that are pressed before the app has taken it over.

By default a terminal echoes them at the cursor and turns Enter into a line feed. Does nothing if stdin is
not a terminal, or without termios (Windows).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

INPUT, LOCAL = 0, 3
"""Indices in the result of `termios.tcgetattr`."""
_found: list[Any] = []
"""The terminal's original settings, while they are changed."""


@contextlib.contextmanager
def waiting_for_the_app() -> Iterator[None]:
    """Makes the terminal keep keys unchanged, without echo, until they are read; ctrl+c interrupts."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    found = termios.tcgetattr(sys.stdin)
    changed = list(found)
    changed[INPUT] &= ~termios.ICRNL
    changed[LOCAL] &= ~(termios.ECHO | termios.ICANON)
    _set(changed)
    _found.append(found)
    try:
        yield
    finally:
        _set(_found.pop())


@contextlib.contextmanager
def as_it_was() -> Iterator[None]:
    """Restores the owner's terminal settings while another program uses the terminal."""
    if not _found:
        yield
        return
    now = termios.tcgetattr(sys.stdin)
    _set(_found[-1])
    try:
        yield
    finally:
        _set(now)


def _set(settings: list[Any]) -> None:
    with contextlib.suppress(termios.error):  # the terminal is gone
        termios.tcsetattr(sys.stdin, termios.TCSANOW, settings)
