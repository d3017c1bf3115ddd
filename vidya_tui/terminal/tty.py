"""What the terminal does with the keys that are struck before the app has taken it over.

Left to itself it shows them, wherever the cursor is, and makes a line feed of Enter. Does nothing where
there is no terminal, or none of POSIX.
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
"""Places in what `termios.tcgetattr` gives."""
_found: list[Any] = []
"""The terminal's own settings, while they are others."""


@contextlib.contextmanager
def waiting_for_the_app() -> Iterator[None]:
    """Within, keys are kept as they are until somebody reads them. ctrl+c still interrupts."""
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
    """Within, another program gets the terminal as the owner has it."""
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
