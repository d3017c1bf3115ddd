from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from vidya_tui.terminal.gc_pauses import LATEST, REST, Rests, by_hand


class Day:
    """A fake clock with its timers, and the times of garbage collections."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []
        self.collected: list[float] = []
        self.rests = Rests(
            lambda seconds, what: self.due.append((self.now + seconds, what)),
            now=lambda: self.now,
            collect=lambda: self.collected.append(self.now),
        )

    def until(self, end: float) -> None:
        while self.due and self.due[0][0] <= end:
            self.now, what = self.due.pop(0)
            what()
        self.now = end


def test_collects_once_in_a_rest() -> None:
    day = Day()
    for moment in (0.0, 0.3, 0.9, 1.4):
        day.until(moment)
        day.rests.happened()
    day.until(100.0)
    assert day.collected == [1.4 + REST]
    assert not day.due, "nothing is looked at while nothing happens"
    day.rests.happened()
    day.until(200.0)
    assert day.collected == [1.4 + REST, 100.0 + REST]


def test_collects_at_last_where_there_is_no_rest() -> None:
    day = Day()
    for step in range(int(2.5 * LATEST / 0.5)):
        day.until(0.5 * step)
        day.rests.happened()
    assert len(day.collected) == 2
    assert day.collected[0] == pytest.approx(LATEST, abs=REST)


def test_python_leaves_what_is_old_alone_meanwhile() -> None:
    before = gc.get_threshold()
    with by_hand():
        assert gc.get_threshold()[:2] == before[:2]
        assert gc.get_threshold()[2] > 1000 * before[2]
    assert gc.get_threshold() == before
    with pytest.raises(OSError), by_hand():
        raise OSError
    assert gc.get_threshold() == before
