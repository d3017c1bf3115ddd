"""Saves a running book training to disk, so that it can resume after the program was closed.

Weights are written after each epoch, and when the program closes within one. An interrupted training
loses Adam's moments; a killed one also loses the current epoch. Left out: the file format
(learning.models.unfinished_training) and the training itself (learning.book_training.loop).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType

from engine.errors import CheckpointError
from learning.book_training.asking import EpochReport
from learning.book_training.loop import TrainingStart
from learning.book_training.moved import Moved
from learning.book_training.training_set import Course
from learning.journal.journal import Journal
from learning.models.unfinished_training import (
    TRAINED,
    Unfinished,
    remove_unfinished,
    write_unfinished,
)
from learning.models.weights import Weights


class Stopped(Exception):  # noqa: N818 - not an error: the owner closes the program
    """Raised inside a lesson or a training when the program closes; a lesson then stays waiting."""


class TrainingKeeper:
    """A context manager that saves a training. Any end but Stopped removes the saved files, unless `leave`
    was called. kept: None saves nothing."""

    def __init__(
        self, weights: Weights, moved: Moved, course: Course, kept: Unfinished | None
    ) -> None:
        self._weights, self._moved = weights, moved
        self._now = self._earlier = kept
        if kept is not None:
            lessons = tuple(lesson.id for lesson, _ in course.lessons)
            self._now = replace(kept, version=weights.version, lessons=lessons)
        self._step = kept.step if kept else 0

    def begun(self, journal: Journal) -> TrainingStart | None:
        """State from which to resume; None to start afresh, because nothing was saved or the saved state
        no longer matches the journal and the model."""
        kept, folder = self._earlier, self._weights.folder
        if kept is None:
            return None
        made: TrainingStart | None = None
        if kept.step and kept.still_true(journal, self._weights.version):
            with contextlib.suppress(CheckpointError):
                made = TrainingStart(kept.epoch, kept.step, self._moved.read(folder / TRAINED))
        assert self._now is not None
        if made is None:
            remove_unfinished(folder)
            self._step, self._now = 0, replace(self._now, epoch=0, step=0)
            with contextlib.suppress(OSError):  # on a full disk it trains without saving
                write_unfinished(folder, self._now)
        return made

    def hearing(self, report: Callable[[EpochReport], None]) -> Callable[[EpochReport], None]:
        """Wraps `report`: also saves the weights after each complete epoch."""

        def heard(now: EpochReport) -> None:
            report(now)
            self._step = max(self._step, now.step)
            if now.recall is not None and now.step > now.begun:
                self._keep(epoch=now.epoch)

        return heard

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Saves the weights on Stopped; use it while the model still holds the trained weights."""
        try:
            yield
        except Stopped:
            if self._now is not None and self._step > self._now.step:
                self._keep(epoch=self._now.epoch)
            raise

    @property
    def has_steps(self) -> bool:
        """True if something is saved from which a later training can resume."""
        return self._now is not None and self._now.step > 0

    def leave(self) -> None:
        """Leaves the saved files for a later training, because nothing of it was published."""
        self._now = None

    def __enter__(self) -> TrainingKeeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._now is not None and (kind is None or not issubclass(kind, Stopped)):
            remove_unfinished(self._weights.folder)

    def _keep(self, epoch: int) -> None:
        if self._now is None:
            return
        folder = self._weights.folder
        with contextlib.suppress(CheckpointError, OSError):  # training goes on without saving
            self._moved.save(folder / TRAINED)
            self._now = replace(self._now, epoch=epoch, step=self._step)
            write_unfinished(folder, self._now)
