"""Mixes a lesson with what must not be forgotten into one batch of fixed size.

The batch is an effective one: its gradient is accumulated over micro-batches that are small enough
for the machine, and for the owner who may want an answer in between.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from learning.examples import Example
from learning.replay import Replay


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
    """Earlier lessons."""
    riders: int = 2
    """Weak lessons."""
    talk: int = 5
    """Rows of the model's own talk."""


@dataclass(frozen=True)
class MixedBatch:
    """What one optimizer step sees."""

    lesson: tuple[Example, ...]
    replay: tuple[Example, ...]
    """Book and earlier lessons."""
    talk: tuple[Example, ...]
    riders: tuple[tuple[Example, float], ...]

    @property
    def rows(self) -> int:
        return len(self.lesson) + len(self.replay) + len(self.talk) + len(self.riders)


COPIES = 4
"""Times that a broken example is in a batch: one row in 32 mends it too slowly."""


class BatchAccumulator:
    """Fills batches. `broken` examples, found by a check between steps, displace near ones."""

    def __init__(self, replay: Replay, mixture: Mixture, rng: random.Random) -> None:
        self._replay = replay
        self._mixture = mixture
        self._rng = rng

    def mix(self, lesson: Sequence[Example], broken: Sequence[Example] = ()) -> MixedBatch:
        """A batch around the lesson; with an empty lesson it is all replay (consolidation)."""
        mixture, replay, rng = self._mixture, self._replay, self._rng
        prompt = lesson[0].prompt if lesson else ""
        near = (list(broken) * COPIES)[: mixture.near]
        if lesson:
            near += replay.nearest(lesson[0], mixture.near - len(near))
        chosen = near + replay.draw(rng, replay.taught, mixture.earlier, prompt)
        riders = [r for r in replay.riders if r[0].prompt != prompt or not prompt]
        riders = rng.sample(riders, min(mixture.riders, len(riders)))
        talk = replay.draw(rng, replay.talk, mixture.talk, "")
        room = mixture.batch - len(lesson) - len(chosen) - len(riders) - len(talk)
        chosen += replay.draw(rng, replay.book, max(0, room), prompt)
        short = mixture.batch - len(lesson) - len(chosen) - len(riders) - len(talk)
        if short > 0 and len(replay.talk) > len(talk):
            talk = replay.draw(rng, replay.talk, len(talk) + short, "")
        return MixedBatch(tuple(lesson), tuple(chosen), tuple(talk), tuple(riders))
