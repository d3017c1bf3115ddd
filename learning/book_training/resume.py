"""Keeps a book training on the disk while it runs, so that it can go on after the program was closed.

Weights are written after each epoch, and when the program closes in the middle of one: a training
that is broken off loses the momentum of Adam; one that is killed, the epoch. Left out: what is kept
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
    """Raised inside a lesson or a training when the program closes; the lesson stays waiting."""


class TrainingKeeper:
    """A context: what ends it but Stopped also ends the keeping. With None nothing is kept."""

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
        """Where it goes on; None where it begins anew, because there is nothing kept, or it is not
        true any more."""
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
            with contextlib.suppress(OSError):  # a full disk: it trains all the same
                write_unfinished(folder, self._now)
        return made

    def hearing(self, report: Callable[[EpochReport], None]) -> Callable[[EpochReport], None]:
        """Reports as before, and keeps what each whole epoch made."""

        def heard(now: EpochReport) -> None:
            report(now)
            self._step = max(self._step, now.step)
            if now.recall is not None and now.step > now.begun:
                self._keep(epoch=now.epoch)

        return heard

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Keeps what there is when the program closes; the weights must still be the trained ones."""
        try:
            yield
        except Stopped:
            if self._now is not None and self._step > self._now.step:
                self._keep(epoch=self._now.epoch)
            raise

    @property
    def has_steps(self) -> bool:
        """Whether something is kept that a later training can go on from."""
        return self._now is not None and self._now.step > 0

    def leave(self) -> None:
        """What is kept stays for another time, since nothing of it was published."""
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
        with contextlib.suppress(CheckpointError, OSError):  # it trains all the same
            self._moved.save(folder / TRAINED)
            self._now = replace(self._now, epoch=epoch, step=self._step)
            write_unfinished(folder, self._now)
