"""What makes the teacher late in tests (tests/late.py) loses nothing and changes no order."""

from __future__ import annotations

import asyncio

from learning.protocol.events import Event, Failed
from tests.late import LateEvents

EVENTS = [Failed("generate", str(number), "ask again") for number in range(5)]


def test_late_events_come_in_their_order() -> None:
    heard: list[Event] = []

    async def run() -> None:
        late = LateEvents(heard.append)
        for event in EVENTS:
            late(event)
        assert heard == []
        while len(heard) < len(EVENTS):
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(run(), 10.0))
    assert heard == EVENTS


def test_a_hurry_hands_over_what_is_on_its_way_once() -> None:
    heard: list[Event] = []

    async def run() -> None:
        late = LateEvents(heard.append)
        for event in EVENTS[:3]:
            late(event)
        late.hurry()
        assert heard == EVENTS[:3]
        for event in EVENTS[3:]:
            late(event)
        await asyncio.sleep(0.5)

    asyncio.run(run())
    assert heard == EVENTS


def test_without_a_loop_nothing_is_late() -> None:
    heard: list[Event] = []
    LateEvents(heard.append)(EVENTS[0])
    assert heard == EVENTS[:1]
