"""Changes a model's weights safely: take steps, judge them, publish them or put the old weights back.

The one place that does: a lesson, a rehearsal, an undo, a training on the book and a practice each say which
tensors they move, how they step and how they judge, and call `attempt`; practice, which has save points,
holds an `Attempt` open. Left out: which steps to take (learning.lessons, learning.practice).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from engine.model import Model
from learning.data.examples import Example
from learning.journal.journal import Journal
from learning.memory.caches import LearnerCaches, MarginState
from learning.memory.guard import Verdict, examine
from learning.memory.margins import MarginTracker
from learning.memory.tasks import LessonTask
from learning.models.trainable import Trainable, all_weights
from learning.models.weights import Weights

Result = TypeVar("Result")


@dataclass(frozen=True)
class Commit:
    """A judge's decision to publish."""

    lessons: Sequence[int] = ()
    """Those that the weights know now and did not before."""
    note: str = ""
    moved: bool = True
    """False: the weights are those before, only the journal notes that the lessons are known."""
    snapshot: bool = True
    """Whether the weights before are kept as a snapshot."""


UNPUBLISHED = Commit(moved=False)
"""The weights stay as they are, and nothing is published: there was nothing new, or more is to come."""


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """The result of an attempt."""

    result: Result
    """What the steps returned."""
    kept: bool
    """False: weights and margins were put back."""


@dataclass(frozen=True)
class AtStake:
    """The part of the memory that a task's steps must not damage, and its recall before them."""

    tracker: MarginTracker
    book: list[Example]
    earlier: list[Example]
    book_before: float
    earlier_before: float

    def judged(self, model: Model) -> Verdict:
        """The guard's verdict on the current weights."""
        return examine(
            model,
            book_before=self.book_before,
            book_recall=self.tracker.recall(self.book),
            earlier=len(self.earlier),
            earlier_before=self.earlier_before,
            earlier_recall=self.tracker.recall(self.earlier),
        )


class Attempt:
    """Steps under way on some tensors, with the weights and margins to put back: those of the beginning,
    and after each publication those that were published."""

    def __init__(self, transaction: WeightTransaction, trainable: Trainable) -> None:
        self._transaction, self._trainable = transaction, trainable
        self._begin()

    def _begin(self) -> None:
        self._version = self._transaction.weights.version
        self._weights: dict[str, Tensor] = self._trainable.state()
        self._margins: MarginState = self._transaction.caches.margins()

    def put_back(self) -> None:
        """Restores weights and margins. Does nothing if they have been published since, because answers
        come from them already."""
        if self._transaction.weights.version == self._version:
            self._trainable.restore(self._weights)
            self._transaction.caches.restore(self._margins)

    def publish(self, commit: Commit, *, go_on: bool = False) -> None:
        """Publishes the weights (Weights.publish) and saves the margins. go_on: further steps follow,
        and `put_back` then restores the version published now."""
        moved = self._trainable.names if commit.moved else ()
        self._transaction.publish(commit, moved)
        if go_on:
            self._begin()


@dataclass
class WeightTransaction:
    """The weights of one model of a home, with all caches that depend on them."""

    weights: Weights
    caches: LearnerCaches
    journal: Journal
    rng: random.Random
    pause: Callable[[], None]
    """Called before every micro-batch; may raise Stopped."""

    @property
    def trainable(self) -> Trainable:
        """The default: all weights."""
        return all_weights(self.weights.model)

    @contextlib.contextmanager
    def begin(self, trainable: Trainable | None = None) -> Iterator[Attempt]:
        """Yields an attempt. If the block raises, restores everything that was not published."""
        attempt = Attempt(self, trainable or self.trainable)
        try:
            yield attempt
        except BaseException:
            attempt.put_back()
            raise

    def attempt(
        self,
        steps: Callable[[], Result],
        judge: Callable[[Result], Commit | None],
        trainable: Trainable | None = None,
    ) -> Outcome[Result]:
        """Takes steps and judges the result. Publishes it, or restores weights and margins if the judge
        returns None or anything raises. Raises what the steps, the judge and Weights.publish raise."""
        with self.begin(trainable) as attempt:
            result = steps()
            commit = judge(result)
            if commit is None:
                attempt.put_back()
            elif commit is not UNPUBLISHED:
                attempt.publish(commit)
        return Outcome(result, commit is not None)

    def at_stake(self, task: LessonTask) -> AtStake:
        """The whole memory except the examples that answer the task's own prompts."""
        tracker, replay = self.caches.tracker, self.caches.replay
        book = [e for e in replay.book if e.prompt not in task.prompts]
        earlier = [e for e in replay.taught if e.prompt not in task.prompts]
        return AtStake(tracker, book, earlier, tracker.recall(book), tracker.recall(earlier))

    def publish(self, commit: Commit, moved: Sequence[str] = ()) -> None:
        """Publishes the weights and saves the margins. moved: names of the changed parameters."""
        self.weights.publish(
            list(commit.lessons),
            commit.note,
            moved=moved,
            snapshot=commit.snapshot,
        )
        self.caches.save()
