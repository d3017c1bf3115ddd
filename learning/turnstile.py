"""Who may use the machine: an answer that streams goes before a learner that steps.

Left out: preemption. The learner asks between micro-batches, so an answer waits for one at most.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

QUIET = 0.05
"""Seconds after a key press in which no new micro-batch begins, so that the key is painted first.
Short, since somebody who types without a pause would else keep the learner from learning."""


class Turnstile:
    """Shared by the generating and the learning thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._answers = 0
        self._last_key = float("-inf")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While this is held, `give_way` blocks."""
        with self._condition:
            self._answers += 1
        try:
            yield
        finally:
            with self._condition:
                self._answers -= 1
                self._condition.notify_all()

    def key_pressed(self) -> None:
        """The owner types."""
        self._last_key = time.monotonic()

    def quiet_for(self) -> float:
        """Seconds since a key was pressed."""
        return time.monotonic() - self._last_key

    def give_way(self) -> None:
        """Blocks while an answer streams or a key was pressed a moment ago."""
        if (wait := self._last_key + QUIET - time.monotonic()) > 0:
            time.sleep(wait)
        with self._condition:
            self._condition.wait_for(lambda: self._answers == 0)
