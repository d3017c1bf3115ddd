"""Priorities between threads: a streaming answer goes before training steps.

Left out: preemption. The learner gives way between micro-batches, so an answer waits for at most one.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET = 0.05
"""Seconds after a key press in which no new micro-batch starts, so that the key is drawn first.
Short, because steady typing would otherwise keep the learner from learning."""


class Scheduler:
    """Shared by the generating and the learning thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._answers = 0
        self._last_key = float("-inf")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Makes `give_way` block while this is held."""
        with self._condition:
            self._answers += 1
        try:
            yield
        finally:
            with self._condition:
                self._answers -= 1
                self._condition.notify_all()

    def key_pressed(self) -> None:
        """Records a key press."""
        self._last_key = time.monotonic()

    def quiet_for(self) -> float:
        """Seconds since the last key press."""
        return time.monotonic() - self._last_key

    def give_way(self) -> None:
        """Blocks while an answer streams or within QUIET after a key press."""
        if (wait := self._last_key + QUIET - time.monotonic()) > 0:
            time.sleep(wait)
        with self._condition:
            self._condition.wait_for(lambda: self._answers == 0)


def lower_priority(niceness: int) -> None:
    """Sets the niceness (0 to 19) of this thread, if the system supports it (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def at_lowest_priority(work: Callable[[], object]) -> None:
    """Runs `work` in a new thread at the lowest priority and waits for it; re-raises its exception. A new
    thread each time, because Linux lets an unprivileged thread lower its priority but not raise it."""
    raised: list[BaseException] = []

    def lowest() -> None:
        lower_priority(19)
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=lowest, name="idle", daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
