"""Mixes a lesson with what must not be forgotten into one batch of fixed size.

The gradient of a batch is accumulated over micro-batches. They are small, so that the owner can get an
answer in between.
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
    """Rows of each kind in a batch. Free rows are filled from the book, then from talk."""

    batch: int = 32
    """All rows."""
    variations: int = 4
    """Other wordings of the lesson's question."""
    near: int = 8
    """Remembered examples nearest to the lesson, or examples that the last steps broke."""
    earlier: int = 6
    """Earlier lessons, half of them in other words."""
    riders: int = 2
    """Auxiliary lessons."""
    talk: int = 5
    """Rows of the model's own talk."""


@dataclass(frozen=True)
class MixedBatch:
    """The rows of one optimizer step."""

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
"""Copies of each broken example in a batch: one row in 32 repairs it too slowly."""


class BatchAccumulator:
    """Fills batches from a lesson and the memory. Broken examples take the place of near ones."""

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
        """A batch around the lesson. An empty lesson (consolidation, or a task that only avoids) gives a
        batch of replay alone. Examples whose prompts are the lesson's or in `without` are not replayed."""
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
