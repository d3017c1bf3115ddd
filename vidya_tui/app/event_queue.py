"""Carries the teacher's events from any thread to the app's own.

Events may come thousands a second. They are collected here and the app is woken once, however many
there are; it drains them in order, many at a time. Left out: what the events mean.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the first frame waits for no more than it needs
    from learning.protocol.events import Event


class Inbox:
    """`put` from any thread, `drain` from the app's. `wake` is called by the thread that puts the
    first event after a `rest`; it must be thread-safe and return at once."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._events: deque[Event] = deque()
        self._lock = threading.Lock()
        self._awake = False

    def put(self, event: Event) -> None:
        with self._lock:
            self._events.append(event)
            call = not self._awake
            self._awake = True
        if call:
            self._wake()

    def drain(self) -> list[Event]:
        """Everything that came since the last call, oldest first."""
        with self._lock:
            events = list(self._events)
            self._events.clear()
        return events

    def rest(self) -> bool:
        """Asks to be woken again. False where events came meanwhile: drain once more."""
        with self._lock:
            self._awake = bool(self._events)
            return not self._awake
