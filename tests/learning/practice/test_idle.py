from __future__ import annotations

import pytest

from learning.practice.idle import Idle
from learning.protocol.events import Failed, PracticeDone, WorkerLost
from learning.protocol.requests import Practise


def done(ended: str, *, idle: bool = True) -> PracticeDone:
    return PracticeDone(
        "sums", ended, "", 5, 0, 0.1, None, 0.2, 1.0, 1.0, 60.0, "", 1, 100, 2, idle
    )


def test_it_begins_after_so_many_minutes_without_a_key() -> None:
    idle = Idle(15, "sums", last_key=0.0)
    assert idle.due(899.0, busy=False) is None
    idle.key(600.0)
    assert idle.due(1499.0, busy=False) is None
    assert idle.due(1500.0, busy=True) is None
    assert idle.due(1500.0, busy=False) == Practise("sums", warm_up=True, idle=True)
    assert idle.due(1501.0, busy=False) is None, "it runs"


def test_it_is_off_unless_switched_on() -> None:
    assert Idle(0, "sums", last_key=0.0).due(1e9, busy=False) is None


def test_it_goes_on_while_the_owner_stays_away() -> None:
    idle = Idle(1, "sums", last_key=0.0)
    assert idle.due(60.0, busy=False)
    idle.hear(done("steps"))
    again = idle.due(61.0, busy=False)
    assert again is not None and again.seed is None, "other problems"


@pytest.mark.parametrize("ended", ["too_hard", "too_few", "solved", "rolled_back"])
def test_what_is_pointless_waits_until_the_owner_was_here(ended: str) -> None:
    idle = Idle(1, "sums", last_key=0.0)
    assert idle.due(60.0, busy=False)
    idle.hear(done(ended))
    assert idle.due(600.0, busy=False) is None
    idle.key(700.0)
    assert idle.due(760.0, busy=False)


@pytest.mark.parametrize(
    "event",
    [
        Failed("practise", "no such task"),
        Failed("worker", "it ended three times"),
        WorkerLost("killed", True),
    ],
)
def test_what_goes_wrong_is_not_tried_for_ever(event: Failed | WorkerLost) -> None:
    idle = Idle(1, "sums", last_key=0.0)
    assert idle.due(60.0, busy=False)
    idle.hear(event)
    assert not idle.running and idle.due(600.0, busy=False) is None


def test_practice_that_the_owner_began_is_another_matter() -> None:
    idle = Idle(1, "sums", last_key=0.0)
    idle.hear(done("too_hard", idle=False))
    assert idle.due(60.0, busy=False)


def test_it_practises_with_the_settings_of_the_owner() -> None:
    idle = Idle(15, "sums", 0.0, ("max_digits=2",), ("lr=1e-5",))
    request = idle.due(900.0, busy=False)
    assert request is not None
    assert (request.settings, request.options) == (("max_digits=2",), ("lr=1e-5",))
