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


class LateEvents:
    """Hands events over in their order; each is late where a loop runs."""

    def __init__(self, on_event: Hear) -> None:
        self._on_event = on_event
        self._chance = random.Random(0)
        self._waiting: deque[Event] = deque()
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._on_event(event)
            return
        self._waiting.append(event)
        self._due = max(self._due, loop.time() + self._chance.uniform(*SECONDS))
        loop.call_at(self._due, self._next)

    def hurry(self) -> None:
        """Hands over at once what is still on its way."""
        while self._waiting:
            self._next()

    def _next(self) -> None:
        if self._waiting:
            self._on_event(self._waiting.popleft())


def late_events(on_event: Hear) -> Hear:
    """The same; under VIDYA_LATE=events what hears each event late."""
    return LateEvents(on_event) if "events" in WORDS else on_event


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
