"""Mixes a lesson with what must not be forgotten into one batch of fixed size.

The batch is an effective one: its gradient is accumulated over micro-batches that are small enough
for the machine, and for the owner who may want an answer in between.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from learning.data.examples import Example
from learning.memory.replay import Replay


@dataclass(frozen=True)
class Mixture:
    """Shares of a batch. Rows of examples; what is missing is filled from the book, then from talk."""

    batch: int = 32
    """Rows in all."""
    variations: int = 4
    """Other wordings of the lesson's question."""
    near: int = 8
    """Remembered examples closest to the lesson, or those that the last steps broke."""
    earlier: int = 6
    """Earlier lessons, half of them in other words."""
    riders: int = 2
    """Weak lessons."""
    talk: int = 5
    """Rows of the model's own talk."""


@dataclass(frozen=True)
class MixedBatch:
    """What one optimizer step sees."""

    lesson: tuple[Example, ...]
    wordings: tuple[Example, ...]
    """The lesson's answer to other wordings of its question."""
    replay: tuple[Example, ...]
    """Book and earlier lessons."""
    talk: tuple[Example, ...]
    riders: tuple[tuple[Example, float], ...]

    @property
    def rows(self) -> int:
        rows = len(self.lesson) + len(self.wordings) + len(self.replay)
        return rows + len(self.talk) + len(self.riders)


COPIES = 4
"""Times that a broken example is in a batch: one row in 32 mends it too slowly."""


class BatchAccumulator:
    """Fills batches. `broken` examples, found by a check between steps, displace near ones."""

    def __init__(self, replay: Replay, mixture: Mixture, rng: random.Random) -> None:
        self._replay = replay
        self._mixture = mixture
        self._rng = rng

    def mix(
        self,
        lesson: Sequence[Example],
        broken: Sequence[Example] = (),
        wordings: Sequence[Example] = (),
        without: AbstractSet[str] = frozenset(),
    ) -> MixedBatch:
        """A batch around the lesson; with an empty lesson (consolidation, or something is only to be
        avoided) it is all replay. Nothing that answers the lesson's prompts, or those `without`, is
        replayed."""
        mixture, replay, rng = self._mixture, self._replay, self._rng
        prompts = {e.prompt for e in lesson} | without
        near = (list(broken) * COPIES)[: mixture.near]
        if lesson:
            near += replay.nearest(lesson[0], mixture.near - len(near), prompts)
        earlier = replay.draw(rng, replay.taught, mixture.earlier, prompts)
        chosen = near + [replay.otherwise(e, rng, prompts) for e in earlier]
        riders = [r for r in replay.riders if r[0].prompt not in prompts]
        riders = rng.sample(riders, min(mixture.riders, len(riders)))
        talk = replay.draw(rng, replay.talk, mixture.talk, frozenset())
        new = len(lesson) + len(wordings)
        room = mixture.batch - new - len(chosen) - len(riders) - len(talk)
        chosen += replay.draw(rng, replay.book, max(0, room), prompts)
        short = mixture.batch - new - len(chosen) - len(riders) - len(talk)
        if short > 0 and len(replay.talk) > len(talk):
            talk = replay.draw(rng, replay.talk, len(talk) + short, frozenset())
        return MixedBatch(tuple(lesson), tuple(wordings), tuple(chosen), tuple(talk), tuple(riders))
