"""Who may use the machine: an answer that streams goes before a learner that steps.

Left out: preemption. The learner asks between micro-batches, so an answer waits for one at most.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET = 0.05
"""Seconds after a key press in which no new micro-batch begins, so that the key is painted first.
Short, since somebody who types without a pause would else keep the learner from learning."""


class Scheduler:
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


def lower_priority(niceness: int) -> None:
    """This thread goes after those of lower niceness, 0 to 19, where the system can do that (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def at_lowest_priority(work: Callable[[], object]) -> None:
    """Does it in a thread that everybody else goes before; a thread that has stepped back cannot
    come forward again, so it is a new one each time. What it raises is raised here."""
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
