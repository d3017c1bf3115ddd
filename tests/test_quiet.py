"""What is waited for, and what is not, when a test waits until the app is quiet (tests/quiet.py)."""

from __future__ import annotations

import asyncio
import time

import textual.app
import textual.pilot

import tests.stage  # noqa: F401  it puts the wait in place
from tests.quiet import SOON, wait_until_quiet


def test_chains_of_callbacks_and_timers_that_are_due_soon_are_waited_for() -> None:
    done: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def step(left: int) -> None:
            if left:
                loop.call_soon(step, left - 1)
            else:
                loop.call_later(SOON / 2, done.append, "timer")

        step(50)
        await wait_until_quiet()

    asyncio.run(run())
    assert done == ["timer"]


def test_timers_that_are_due_later_or_were_cancelled_are_not() -> None:
    done: list[str] = []

    async def run() -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(30.0, done.append, "late")
        loop.call_later(SOON / 2, done.append, "cancelled").cancel()
        start = time.monotonic()
        await wait_until_quiet()
        return time.monotonic() - start

    assert asyncio.run(run()) < 15.0
    assert done == []


def test_a_loop_that_is_never_quiet_is_left_in_the_end() -> None:
    async def run() -> None:
        async def busy() -> None:
            while True:
                await asyncio.sleep(0)

        task = asyncio.create_task(busy())
        await wait_until_quiet(max_sleep=0.05)
        assert not task.done()
        task.cancel()

    asyncio.run(asyncio.wait_for(run(), 20.0))


def test_the_pilot_of_textual_waits_so() -> None:
    assert vars(textual.pilot)["wait_for_idle"] is wait_until_quiet
    assert vars(textual.app)["wait_for_idle"] is wait_until_quiet
