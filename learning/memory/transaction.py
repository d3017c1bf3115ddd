"""Changes a model's weights safely: take steps, judge them, publish them or put the old weights back.

Left out: which steps to take (learning.lessons, learning.practice).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor

from engine.model import Model
from learning.data.examples import Example
from learning.journal.journal import Journal
from learning.memory.caches import LearnerCaches, MarginState
from learning.memory.guard import Verdict, examine
from learning.memory.margins import MarginTracker
from learning.memory.tasks import LessonTask
from learning.models.weights import Weights


@dataclass(frozen=True)
class Before:
    """Weights and margins to put back if the work fails or is interrupted."""

    weights: dict[str, Tensor]
    margins: MarginState


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


@dataclass
class WeightTransaction:
    """The weights of one model of a home, with all caches that depend on them."""

    weights: Weights
    caches: LearnerCaches
    journal: Journal
    rng: random.Random
    pause: Callable[[], None]
    """Called before every micro-batch; may raise Stopped."""

    def as_now(self) -> Before:
        """A copy of weights and margins, for `put_back`."""
        return Before(self.weights.state(), self.caches.margins())

    def put_back(self, before: Before) -> None:
        """Puts weights and margins back."""
        self.weights.restore(before.weights)
        self.caches.restore(before.margins)

    @contextlib.contextmanager
    def or_as_before(self) -> Iterator[Before]:
        """Rolls weights and margins back if the block raises, unless it has published in the meantime."""
        before, version = self.as_now(), self.weights.version
        try:
            yield before
        except BaseException:
            if self.weights.version == version:
                self.put_back(before)
            raise

    def at_stake(self, task: LessonTask) -> AtStake:
        """The whole memory except the examples that answer the task's own prompts."""
        tracker, replay = self.caches.tracker, self.caches.replay
        book = [e for e in replay.book if e.prompt not in task.prompts]
        earlier = [e for e in replay.taught if e.prompt not in task.prompts]
        return AtStake(tracker, book, earlier, tracker.recall(book), tracker.recall(earlier))

    def publish(
        self, lessons: list[int], note: str, *, changed: bool = True, snapshot: bool = True
    ) -> None:
        """Publishes (Weights.publish) and saves the margins."""
        self.weights.publish(lessons, note, changed=changed, snapshot=snapshot)
        self.caches.save()
