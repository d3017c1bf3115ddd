"""Where one model's weights are worked on: steps are taken, put back, or saved and published.

Left out: which steps, and whether they are good enough (learner.py, pauses.py).
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
    """What is put back where work does not come to its end, or to a good one."""

    weights: dict[str, Tensor]
    margins: MarginState


@dataclass(frozen=True)
class AtStake:
    """What of the memory the steps for a task must not cost, and how much of it was known before."""

    tracker: MarginTracker
    book: list[Example]
    earlier: list[Example]
    book_before: float
    earlier_before: float

    def judged(self, model: Model) -> Verdict:
        """What the guard says of the weights as they are now."""
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
    """Of one model of a home."""

    weights: Weights
    caches: LearnerCaches
    journal: Journal
    rng: random.Random
    pause: Callable[[], None]
    """Called before every micro-batch; may raise Stopped."""

    def as_now(self) -> Before:
        """For `put_back`."""
        return Before(self.weights.state(), self.caches.margins())

    def put_back(self, before: Before) -> None:
        """Weights and margins as they were."""
        self.weights.restore(before.weights)
        self.caches.restore(before.margins)

    @contextlib.contextmanager
    def or_as_before(self) -> Iterator[Before]:
        """Where anything is raised within, weights and margins are as they were; or as they were
        published within, since these answer already."""
        before, version = self.as_now(), self.weights.version
        try:
            yield before
        except BaseException:
            if self.weights.version == version:
                self.put_back(before)
            raise

    def at_stake(self, task: LessonTask) -> AtStake:
        """All but what answers the task's own prompts."""
        tracker, replay = self.caches.tracker, self.caches.replay
        book = [e for e in replay.book if e.prompt not in task.prompts]
        earlier = [e for e in replay.taught if e.prompt not in task.prompts]
        return AtStake(tracker, book, earlier, tracker.recall(book), tracker.recall(earlier))

    def publish(
        self, lessons: list[int], note: str, *, changed: bool = True, snapshot: bool = True
    ) -> None:
        """As Weights.publish; the margins are saved too."""
        self.weights.publish(lessons, note, changed=changed, snapshot=snapshot)
        self.caches.save()
