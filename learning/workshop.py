"""Where one model's weights are worked on: steps are taken, put back, or saved and published.

Left out: which steps, and whether they are good enough (learner.py, pauses.py).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.model import Model
from learning.examples import Example
from learning.guard import Verdict, examine
from learning.journal import Journal
from learning.mind import Margins, Mind
from learning.teaching import Task, TeachResult, TeachSettings, teach
from learning.watch import Watch
from learning.weights import Weights


@dataclass(frozen=True)
class Before:
    """What is put back where work does not come to its end, or to a good one."""

    weights: dict[str, Tensor]
    margins: Margins


@dataclass(frozen=True)
class AtStake:
    """What of the memory the steps for a task must not cost, and how much of it was known before."""

    watch: Watch
    book: list[Example]
    earlier: list[Example]
    book_before: float
    earlier_before: float

    def judged(self, model: Model) -> Verdict:
        """What the guard says of the weights as they are now."""
        return examine(
            model,
            book_before=self.book_before,
            book_recall=self.watch.recall(self.book),
            earlier=len(self.earlier),
            earlier_before=self.earlier_before,
            earlier_recall=self.watch.recall(self.earlier),
        )


@dataclass
class Workshop:
    """Of one model of a home."""

    weights: Weights
    mind: Mind
    journal: Journal
    settings: TeachSettings
    rng: random.Random
    pause: Callable[[], None]
    """Called before every micro-batch; may raise Stopped."""
    all_move: bool = False
    """Steps move the lower blocks as well, so that what is kept of these has to go with them."""

    def as_now(self) -> Before:
        """For `put_back`."""
        return Before(self.weights.state(), self.mind.margins())

    def put_back(self, before: Before) -> None:
        """Weights and margins as they were."""
        self.weights.restore(before.weights)
        self.mind.restore(before.margins)
        if self.all_move:
            self.mind.forget_trunk()

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

    def at_stake(self, task: Task) -> AtStake:
        """All but what answers the task's own prompts."""
        watch, replay = self.mind.watch, self.mind.replay
        book = [e for e in replay.book if e.prompt not in task.prompts]
        earlier = [e for e in replay.taught if e.prompt not in task.prompts]
        return AtStake(watch, book, earlier, watch.recall(book), watch.recall(earlier))

    def publish(
        self, lessons: list[int], note: str, *, changed: bool = True, snapshot: bool = True
    ) -> None:
        """As Weights.publish; the margins are saved too."""
        self.weights.publish(lessons, note, changed=changed, snapshot=snapshot)
        self.mind.save()

    def teach(
        self,
        task: Task,
        settings: TeachSettings,
        broken: Sequence[Example] = (),
        report: Callable[[int, float], None] = lambda _step, _loss: None,
        checking: Callable[[], None] = lambda: None,
    ) -> TeachResult:
        """See learning.teaching. Raises NumericsError."""
        mind = self.mind
        return teach(
            self.weights.model,
            task,
            mind.replay,
            settings,
            self.rng,
            trunk=mind.trunk,
            watch=mind.watch,
            voice=mind.voice,
            broken=broken,
            pause=self.pause,
            report=report,
            checking=checking,
        )
