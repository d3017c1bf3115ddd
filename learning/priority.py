"""Threads that let others go first."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable


def step_back(niceness: int) -> None:
    """This thread goes after those of lower niceness, 0 to 19, where the system can do that (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def at_lowest_priority(work: Callable[[], object]) -> None:
    """Does it in a thread that everybody else goes before; a thread that has stepped back cannot
    come forward again, so it is a new one each time. What it raises is raised here."""
    raised: list[BaseException] = []

    def lowest() -> None:
        step_back(19)
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=lowest, name="idle", daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
