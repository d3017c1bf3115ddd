"""Asks a model for every line of a book while it is trained on it, and says how far that is.

Asking can be stopped: it takes a few seconds of a small model, and minutes of a large one. Left out: the
steps between (learning.book_training.loop).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.model import Model
from learning.data.examples import Example
from learning.objectives.forward import HiddenStates, Knowledge, knowledge, mean_loss, share_known

PIECE = 48
"""Lines that are asked between two reports."""
PATIENCE = 8.0
"""Seconds that asking may still take once it was to stop. What could not be asked whole by then is given
up, since nobody knows what it has cost: the weights are those of the last epoch that was."""


@dataclass(frozen=True)
class EpochReport:
    """Where training is."""

    epoch: int
    step: int
    steps: int
    loss: float
    recall: float | None
    """Of the book, 0 to 1; None within an epoch."""
    seconds: float
    examples: int
    begun: int = 0
    """Steps that were done before, where it goes on from an earlier time."""
    known: int = 0
    """Lines of the book that are known, as last asked ..."""
    entries: int = 0
    """... of so many."""
    kept: float | None = None
    """Share known of what else is remembered, 0 to 1, as last asked; None where there is nothing else."""
    asked: float | None = None
    """While lines are asked: the share of them that was, 0 to 1; else None."""


class Stop(Exception):  # noqa: N818 - not an error: the owner wants it to end
    """Raised while lines are asked."""


class Asking:
    """What is known of the lines, as last asked."""

    def __init__(
        self,
        model: Model | HiddenStates,
        book: Sequence[Example],
        rest: Sequence[Example],
        report: Callable[[EpochReport], None],
        pause: Callable[[], None],
        stop: Callable[[], bool],
    ) -> None:
        self.lines, self.entries = [*book, *rest], len(book)
        self._model, self._report, self._pause, self._stop = model, report, pause, stop
        self._found: list[Knowledge | None] = [None] * len(self.lines)
        self._told_to_stop: float | None = None

    def ask(
        self, places: Sequence[int], now: EpochReport, *, patience: float | None = None
    ) -> None:
        """Asks these lines. Raises Stop where it was to stop `patience` seconds ago (None: PATIENCE)."""
        limit = PATIENCE if patience is None else patience
        order = sorted(places, key=lambda at: len(self.lines[at].ids))
        for start in range(0, len(order), PIECE):
            self._report(replace(self.stands(now), recall=None, asked=start / len(order)))
            piece = order[start : start + PIECE]
            found = knowledge(
                self._model,
                [self.lines[at] for at in piece],
                pause=lambda: self._look_up(limit),
            )
            for at, item in zip(piece, found, strict=True):
                self._found[at] = item

    def all(self) -> list[Knowledge]:
        """Of all lines, each of which was asked at some time."""
        return [item for item in self._found if item is not None]

    def known(self, at: int) -> bool:
        item = self._found[at]
        return item is not None and item.known

    def weak(self, at: int, margin: float) -> bool:
        """Not known by so much."""
        item = self._found[at]
        return item is None or item.margin < margin

    def loss(self, places: Sequence[int]) -> float:
        """Nats a token."""
        return mean_loss([item for at in places if (item := self._found[at]) is not None])

    def stands(self, now: EpochReport) -> EpochReport:
        """With what is known by now."""
        book, rest = self._found[: self.entries], self._found[self.entries :]
        known = sum(item is not None and item.known for item in book)
        kept = None
        if rest and all(item is not None for item in rest):
            kept = share_known([item for item in rest if item is not None])
        recall = known / self.entries if self.entries else 1.0
        return replace(now, known=known, entries=self.entries, kept=kept, recall=recall)

    def _look_up(self, patience: float) -> None:
        self._pause()
        if self._stop():
            now = time.monotonic()
            self._told_to_stop = self._told_to_stop or now
            if now - self._told_to_stop >= patience:
                raise Stop
