"""Makes the app under test late in the ways in which it is late on a busy machine, to find tests
that look before a user could have seen anything, and keys that the app takes for others.

    VIDYA_LATE=events pytest -m "not slow" tests/vidya_tui

VIDYA_LATE lists what is late, with commas between: `events` (of the teacher), `keys` (of the owner),
`stalls` (the app's loop does nothing for a moment, again and again). Without it nothing is late. What
is drawn is the same in each run of one test, so that what fails can be looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable

from learning.protocol.events import Event

WORDS = frozenset(os.environ.get("VIDYA_LATE", "").replace(",", " ").split())
assert not (unknown := WORDS - {"events", "keys", "stalls"}), f"VIDYA_LATE: {sorted(unknown)}"
SECONDS = (0.05, 0.4)
"""The least and the most by which an event or a burst of keys is late."""
STALL = (0.02, 0.2)
"""How long the loop stands still, and how long it runs in between; seconds."""

Hear = Callable[[Event], None]


def late_events(on_event: Hear) -> Hear:
    """The same, in the same order; under VIDYA_LATE=events each event is late where a loop runs."""
    if "events" not in WORDS:
        return on_event
    chance = random.Random(0)
    waiting: deque[Event] = deque()
    due = 0.0

    def next_one() -> None:
        on_event(waiting.popleft())

    def late(event: Event) -> None:
        nonlocal due
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            on_event(event)
            return
        waiting.append(event)
        due = max(due, loop.time() + chance.uniform(*SECONDS))
        loop.call_at(due, next_one)

    return late


async def late_keys(chance: random.Random) -> None:
    """Waits before a burst of keys under VIDYA_LATE=keys."""
    if "keys" in WORDS:
        await asyncio.sleep(chance.uniform(*SECONDS))


@contextlib.asynccontextmanager
async def stalls() -> AsyncIterator[None]:
    """The loop stalls again and again under VIDYA_LATE=stalls."""

    async def stall() -> None:
        chance = random.Random(0)
        while True:
            await asyncio.sleep(chance.uniform(*STALL))
            time.sleep(chance.uniform(*STALL))

    task = asyncio.create_task(stall()) if "stalls" in WORDS else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
