"""Ctrl+C while something long is under way that can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible(tell: Callable[[str], None]) -> Iterator[threading.Event]:
    """Yields an event that the first SIGINT or SIGTERM sets; the second one stops at once."""
    asked = threading.Event()

    def ask(number: int, _: object) -> None:
        signal.signal(number, signal.default_int_handler)
        asked.set()
        tell("\nsaving after this step; press again to stop at once")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
