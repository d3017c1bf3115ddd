"""The way of events from the teacher's thread to the app's."""

from __future__ import annotations

import threading

from learning.protocol.events import CandidateTexts
from learning.protocol.records import TextDelta
from vidya_tui.app.event_queue import Inbox


def event(number: int) -> CandidateTexts:
    return CandidateTexts(1, (TextDelta(number, "x"),))


def test_it_wakes_once_until_it_rests() -> None:
    calls: list[int] = []
    inbox = Inbox(lambda: calls.append(1))
    inbox.put(event(1))
    inbox.put(event(2))
    assert calls == [1]
    assert inbox.drain() == [event(1), event(2)]
    inbox.put(event(3))
    assert calls == [1]
    assert not inbox.rest()  # one came meanwhile
    assert inbox.drain() == [event(3)]
    assert inbox.rest()
    inbox.put(event(4))
    assert calls == [1, 1]


def test_nothing_is_lost_or_swapped_between_threads() -> None:
    inbox = Inbox(lambda: None)
    thread = threading.Thread(target=lambda: list(map(inbox.put, map(event, range(5000)))))
    thread.start()
    got = []
    while thread.is_alive() or not inbox.rest():
        got += inbox.drain()
    assert got + inbox.drain() == [event(n) for n in range(5000)]
