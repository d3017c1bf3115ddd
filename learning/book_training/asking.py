"""Measures what a model knows of the lines of a book during training, and reports progress.

A measurement can be stopped: it takes seconds with a small model and minutes with a large one. Left out:
the training steps (learning.book_training.loop).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.model import Model
from learning.data.examples import Example
from learning.objectives.forward import HiddenStates, Knowledge, knowledge, mean_loss, share_known

PIECE = 48
"""Lines measured between two reports."""
PATIENCE = 8.0
"""Seconds that a measurement may still take after a request to stop. An epoch whose measurement is not
complete by then is dropped, because its effect on other lines is unknown; the weights return to the last
epoch measured in full."""


@dataclass(frozen=True)
class EpochReport:
    """Progress of a training."""

    epoch: int
    step: int
    steps: int
    """Steps if all epochs are needed."""
    loss: float
    """Nats per target token."""
    recall: float | None
    """Exact recall of the book, 0 to 1; None within an epoch."""
    seconds: float
    examples: int
    """Lines in the step, or in the epoch at its end."""
    begun: int = 0
    """Steps done before a resumed training; else 0."""
    known: int = 0
    """Lines of the book that were known when last measured."""
    entries: int = 0
    """Lines of the book."""
    kept: float | None = None
    """Share of the other remembered lines that were known when last measured, 0 to 1; None if there are
    none or not all were measured."""
    asked: float | None = None
    """During a measurement: the share of lines already measured, 0 to 1; else None."""


class Stop(Exception):  # noqa: N818 - not an error: the owner wants it to end
    """Raised inside a measurement or a step when the owner stops the training."""


class Asking:
    """The latest measurement of each line."""

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
        """Measures the lines at these indices. Raises Stop `patience` seconds (None: PATIENCE) after a
        request to stop."""
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
        """The latest measurement of every line; requires that all were measured."""
        return [item for item in self._found if item is not None]

    def known(self, at: int) -> bool:
        item = self._found[at]
        return item is not None and item.known

    def weak(self, at: int, margin: float) -> bool:
        """True if the line was not measured or its margin (logits) is below `margin`."""
        item = self._found[at]
        return item is None or item.margin < margin

    def loss(self, places: Sequence[int]) -> float:
        """Mean loss of these lines, in nats per token."""
        return mean_loss([item for at in places if (item := self._found[at]) is not None])

    def stands(self, now: EpochReport) -> EpochReport:
        """The report with the latest measurements filled in."""
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
