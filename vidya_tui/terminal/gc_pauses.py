"""Runs full garbage collections while the owner is not doing anything.

A full collection takes 60 to 90 ms once a long conversation is open, and Python would run it in the middle
of typing, or every other second of scrolling. So it runs in rests. Young generations, which take a few
milliseconds, are collected as usual.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator

REST = 3.0
"""Seconds without activity after which to collect."""
LATEST = 30.0
"""Seconds after the first activity after which to collect even without a rest."""
_NEVER = 1_000_000


def collect_again() -> None:
    """Enables the collector again, which vidya_tui.start disables while the app loads. Objects loaded by
    then are frozen: scanning them again would take longer than a frame."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def by_hand() -> Iterator[None]:
    """Disables Python's automatic collections of the oldest generation while this is held."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


class Rests:
    """Collects after activity, in the next rest. Costs nothing while there is no activity."""

    def __init__(
        self,
        after: Callable[[float, Callable[[], None]], object],
        *,
        now: Callable[[], float] = time.monotonic,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        """after(seconds, f): calls f once after that time. now, collect: replaced in tests."""
        self._after, self._now, self._collect = after, now, collect
        self._first: float | None = None
        self._last = 0.0

    def happened(self) -> None:
        """Records activity: input, or a redraw."""
        self._last = self._now()
        if self._first is None:
            self._first = self._last
            self._after(REST, self._look)

    def _look(self) -> None:
        now = self._now()
        rest = self._last + REST - now
        if self._first is not None and rest > 0.0 and now - self._first < LATEST:
            self._after(rest, self._look)
            return
        self._first = None
        self._collect()
