"""Garbage is collected while nobody acts.

Looking through everything that lives takes 60 to 90 ms once a long conversation was opened, and Python
does it in the middle of a word or a page, every other second of scrolling. So it is left to the rests;
what died young is collected at any time, in a few milliseconds.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator

REST = 3.0
"""Seconds without anything happening after which it is time ..."""
LATEST = 30.0
"""... or so many after the first of what happened, where there is no rest."""
_NEVER = 1_000_000


def collect_again() -> None:
    """Ends the rest from garbage collection in which the app is loaded and built (vidya_tui.start). What
    is loaded by then is not looked through again: that takes longer than a frame, in the middle of a word."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def by_hand() -> Iterator[None]:
    """Python does not look through what is old by itself meanwhile."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


class Rests:
    """Collects in the rests between what happens. Costs nothing while nothing does."""

    def __init__(
        self,
        after: Callable[[float, Callable[[], None]], object],
        *,
        now: Callable[[], float] = time.monotonic,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        """after(seconds, what) calls `what` later, once."""
        self._after, self._now, self._collect = after, now, collect
        self._first: float | None = None
        self._last = 0.0

    def happened(self) -> None:
        """The owner did something, or something was painted."""
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
