from __future__ import annotations

from dataclasses import replace

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
    assert idle.due(1500.0, busy=False) == Practise("sums", idle=True)
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


def test_where_warm_up_was_taken_back_it_goes_on_without_until_the_owner_was_here() -> None:
    idle = Idle(1, "sums", last_key=0.0, others=("chain_sum",))
    first = idle.due(60.0, busy=False)
    assert first is not None and first.warm_up is None
    idle.hear(replace(done("rolled_back"), steps=0))
    second = idle.due(61.0, busy=False)
    assert second is not None and second.warm_up is False
    idle.hear(replace(done("rolled_back"), steps=0))
    assert idle.due(62.0, busy=False) is None, "now it is pointless"
    idle.key(100.0)
    third = idle.due(160.0, busy=False)
    assert third is not None and third.warm_up is None


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


OTHERS = ("chain_sum", "syllogism turned_share=0")


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("taste", ()),
        ("taste", ("curriculum.first=0.6",)),
        ("detective", ("few.examples=4", "lr=1e-5")),
        ("chain_sum", ("self_play.questions=16",)),
    ],
)
def test_what_comes_alone_is_alone_first_and_then_the_others_have_the_night(
    task: str, options: tuple[str, ...]
) -> None:
    idle = Idle(1, task, 0.0, options=options, others=OTHERS)
    assert idle.due(60.0, busy=False) == Practise(task, options=options, idle=True)
    idle.hear(done("steps"))
    assert idle.plan().arms == (), "there is more to learn"
    assert idle.due(90.0, busy=False)
    idle.hear(done("solved"))
    after = idle.due(120.0, busy=False)
    assert after is not None and after.arms == OTHERS and after.climbs
    assert after.options == tuple(one for one in options if one.startswith("lr")), "no first share"
    idle.hear(done("too_hard"))
    assert idle.due(150.0, busy=False) is None, "all is over"
    idle.key(200.0)
    assert idle.plan().task == task, "the next night begins with it again"


def test_a_task_that_fails_alone_leaves_the_night_to_the_others() -> None:
    idle = Idle(1, "taste", 0.0, others=OTHERS)
    assert idle.due(60.0, busy=False)
    idle.hear(Failed("practise", "fewer than 30 picks"))
    assert idle.plan().arms == OTHERS and idle.due(90.0, busy=False)
    idle.hear(Failed("practise", "no room on the disk"))
    assert idle.due(120.0, busy=False) is None


def test_self_play_is_left_out_where_the_task_has_none() -> None:
    idle = Idle(1, "detective", 0.0, options=("self_play.questions=16", "lr=1e-5"), others=OTHERS)
    plan = idle.plan()
    assert plan.arms == ("detective", *OTHERS)
    assert plan.options == ("curriculum.first=0.5", "lr=1e-5")
    off = Idle(1, "chain_sum", 0.0, options=("few.examples=0",), others=OTHERS)
    assert len(off.plan().arms) == 2, "switched off"


def test_a_rung_that_joins_lets_the_night_go_on() -> None:
    idle = Idle(1, "chain_sum", 0.0)
    first = idle.due(60.0, busy=False)
    assert first == Practise("chain_sum", arms=("chain_sum",), climbs=True, idle=True)
    idle.hear(replace(done("solved"), joined=("chain_sum max_terms=3 min_terms=3",)))
    assert idle.due(90.0, busy=False) == first
    idle.hear(replace(done("rolled_back"), joined=("chain_sum max_terms=4 min_terms=4",)))
    assert idle.due(120.0, busy=False) is None, "another rung mends no guard"


def test_typed_settings_are_left_alone() -> None:
    plan = Idle(1, "chain_sum", 0.0, ("max_terms=3",)).plan()
    assert not plan.climbs and not plan.arms and plan.settings == ("max_terms=3",)
