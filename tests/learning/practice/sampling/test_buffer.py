"""Groups wait until there are enough of them, and not for ever."""

from __future__ import annotations

import random

from learning.practice.sampling.buffer import ExperienceBuffer, ScoredGroup


def groups(*names: int) -> list[ScoredGroup]:
    return [ScoredGroup((name,), (), ()) for name in names]


def test_there_is_no_batch_of_fewer_groups_than_asked_for() -> None:
    buffer = ExperienceBuffer(3, max_age=2)
    buffer.add(groups(1, 2), 1)
    assert buffer.batch(random.Random(0)) is None and len(buffer) == 2
    buffer.add(groups(3, 4), 2)
    batch = buffer.batch(random.Random(0))
    assert batch is not None
    assert {one.group.prompt[0] for one in batch[:2]} == {1, 2}, "the oldest first"
    assert [one.born for one in batch] == [1, 1, 2]
    assert len(buffer) == 1, "each group is used once"


def test_what_waited_too_long_is_dropped() -> None:
    buffer = ExperienceBuffer(9, max_age=2)
    buffer.add(groups(1), 1)
    buffer.add(groups(2), 2)
    assert [buffer.drop_old(weights) for weights in (2, 3, 4, 5)] == [0, 0, 1, 1]


def test_with_no_age_only_the_newest_are_used() -> None:
    buffer = ExperienceBuffer(2, max_age=0)
    buffer.add(groups(1), 1)
    assert buffer.drop_old(2) == 1 and len(buffer) == 0


def test_those_of_earlier_weights_can_be_looked_at_and_dropped() -> None:
    buffer = ExperienceBuffer(9, max_age=2)
    buffer.add(groups(1, 2), 1)
    buffer.add(groups(3), 2)
    waiting = buffer.waiting(2)
    assert [one.group.prompt[0] for one in waiting] == [1, 2]
    buffer.drop(waiting[:1])
    assert [one.group.prompt[0] for one in buffer.waiting(3)] == [2, 3]
