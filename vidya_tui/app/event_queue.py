"""Passes the teacher's events from any thread to the app's thread.

Thousands of events may arrive per second. The queue collects them and wakes the app once; the app
drains them in order, in one batch. Left out: what the events mean.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # not imported at run time, so that the first frame appears sooner
    from learning.protocol.events import Event


class Inbox:
    """A thread-safe queue: any thread calls `put`, the app's thread calls `drain` and `rest`. The
    first `put` after a successful `rest` calls `wake` in its own thread, so `wake` must be
    thread-safe and return at once."""

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
        """All events since the last call, oldest first."""
        with self._lock:
            events = list(self._events)
            self._events.clear()
        return events

    def rest(self) -> bool:
        """Asks for `wake` at the next event. Returns False if events are already waiting: then
        drain again."""
        with self._lock:
            self._awake = bool(self._events)
            return not self._awake
