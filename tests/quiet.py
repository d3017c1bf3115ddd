"""Waits for an app under test until its event loop has nothing to do, instead of by the processor's time.

Textual's pilot waits until its process has used little processor time in a fiftieth of a second: at least
that long after each key, longer where another thread or a blinking cursor is busy, and too short where the
machine is. The loop itself knows better. What counts as quiet: no callback is ready, and no timer is due
within SOON. Left out: other threads; a test that waits for one asks for what it brings (`Stage.until`).
"""

from __future__ import annotations

import asyncio

import textual.app
import textual.pilot

SOON = 0.02
"""Seconds; what the app does after less belongs to what it does now: a screen repaints 60 times a second."""


async def wait_until_quiet(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Returns when the running loop is quiet, or after max_sleep seconds. Has the parameters of Textual's
    `wait_for_idle`, in whose place it stands; it sleeps for no less than what is left to do."""
    loop = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    await asyncio.sleep(0)
    while loop.time() < end:
        if loop._ready:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        elif (due := _next_due(loop)) < loop.time() + SOON:
            await asyncio.sleep(max(0.0, due - loop.time()))
        else:
            return


def _next_due(loop: asyncio.AbstractEventLoop) -> float:
    """When the next timer is due, in the loop's time."""
    timers: list[asyncio.TimerHandle] = loop._scheduled  # type: ignore[attr-defined]
    return min((t.when() for t in timers if not t.cancelled()), default=float("inf"))


def wait_by_the_loop() -> None:
    """From now on, in this process, Textual's pilot waits until the loop is quiet."""
    for module in (textual.app, textual.pilot):
        module.wait_for_idle = wait_until_quiet  # type: ignore[attr-defined]
