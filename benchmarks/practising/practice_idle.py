"""Measures how soon idle practice ends after a key press at a random moment, in milliseconds.

The end is the event PracticeDone: the current pass is dropped and the weights of the last save point are
restored.
"""

from __future__ import annotations

import queue
import random
import time
from pathlib import Path

from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import Event, Failed, PracticeDone
from learning.protocol.requests import OwnerActive, Practise
from learning.teacher.teacher import Teacher


def stopping(
    home: Home, folder: Path, *, task: str, times: int, longest: float, seed: int = 0
) -> list[float]:
    """`times` measurements in milliseconds; the key comes up to `longest` seconds after practice began."""
    rng = random.Random(seed)
    events: queue.Queue[Event] = queue.Queue()
    taken = []
    journal = Journal(home.journal_path)
    teacher = Teacher(home, folder, journal, device="cpu", seed=0, on_event=events.put)
    try:
        for number in range(times):
            teacher.send(Practise(task, idle=True, seed=number))
            time.sleep(rng.uniform(0.1, 1.0) * longest)
            pressed = time.monotonic()
            teacher.send(OwnerActive())
            while not isinstance(event := events.get(timeout=60.0), PracticeDone):
                assert not isinstance(event, Failed), event
            taken.append(1000.0 * (time.monotonic() - pressed))
    finally:
        teacher.close()
        journal.close()
    return taken
