"""Tracks how well each remembered example is known, and decides which ones to measure again.

Measuring the whole memory after each lesson would cost more than the lesson, and more with every
lesson. After a lesson this measures the examples most likely to be damaged: the nearest, the weakest,
and a random sample. Then it measures any other example whose margin is smaller than the largest drop
seen at a similar distance from the lesson, up to MOST, so that the cost stays the same as the memory
grows. The remaining margins are lowered by a typical drop. This is a heuristic: `overdue` lists stale
examples for idle time.
"""

from __future__ import annotations

import hashlib
import json
import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from pathlib import Path

from engine.model import Model
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from learning.data.examples import Example
from learning.memory.prefix_cache import LARGE, UpperModel
from learning.memory.replay import Replay
from learning.objectives.forward import knowledge

SAMPLE = 32
"""Examples of each kind that are measured first: nearest, weakest, random."""
SAFETY = 1.25
"""An example is assumed still known if its margin was more than this times the expected drop."""
NEARNESS = 8
"""An example at rank r (by nearness to the lesson) is assumed to drop at most as much as the worst one
measured at rank r / NEARNESS or beyond. The very nearest drop far more, and say little about the rest."""
MOST = 256
"""Most examples that are measured after the steps of one lesson."""
MOST_OF_LARGE = 96
"""The same for a large model (learning.memory.prefix_cache): those measured first. Pauses look at the
rest."""
WATCH_BYTES = 1 << 28
"""Largest file of margins that is read, in bytes; an example takes forty."""
AGEING = 0.75
"""Unmeasured margins are lowered by this quantile of the measured drops."""


@dataclass(frozen=True)
class Margin:
    """What is known about one example."""

    margin: float
    """Smallest lead in logits (learning.objectives.forward.Knowledge), lowered by ageing."""
    round: int
    """Round of the last real measurement; -1: before this process started."""
    once: bool
    """Whether it was ever known."""


class MarginTracker:
    """Margins of one model on its memory."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, ...], Margin] = {}
        self._known_earlier: set[tuple[int, ...]] = set()
        """What weights that these come from knew."""
        self._round = 0

    def __len__(self) -> int:
        """Number of measured examples."""
        return len(self._seen)

    def recall(self, examples: Sequence[Example]) -> float:
        """Share known at the last measurement, 0 to 1; 1 for no examples."""
        if not examples:
            return 1.0
        return sum(self.margin(e) > 0.0 for e in examples) / len(examples)

    def margin(self, example: Example) -> float:
        """Margin at the last measurement. Raises KeyError for an example never measured."""
        return self._seen[example.ids].margin

    def measure(
        self,
        model: Model | UpperModel,
        examples: Iterable[Example],
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Measures these now. `pause` is called before every micro-batch."""
        unique = list({e.ids: e for e in examples}.values())
        for example, item in zip(unique, knowledge(model, unique, pause=pause), strict=True):
            old = self._seen.get(example.ids)
            once = old.once if old is not None else example.ids in self._known_earlier
            once = once or item.known
            self._seen[example.ids] = Margin(item.margin, self._round, once)

    def measure_new(
        self,
        model: Model | UpperModel,
        memory: Iterable[Example],
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Measures what was never measured, and drops what has left the memory."""
        memory = list(memory)
        ids = {e.ids for e in memory}
        self._seen = {key: seen for key, seen in self._seen.items() if key in ids}
        self.measure(model, [e for e in memory if e.ids not in self._seen], pause=pause)

    def after_steps(
        self,
        model: Model | UpperModel,
        replay: Replay,
        lesson: Example,
        prompts: AbstractSet[str],
        rng: random.Random,
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> list[Example]:
        """Measures after the steps of a lesson, see above. Returns the examples that the steps broke:
        known at the last measurement and not now, smallest margin first.

        The whole memory must have been measured before. Examples that answer the lesson's own
        `prompts` are left out, since the lesson replaces them.
        """
        memory = [e for e in replay.memory if e.prompt not in prompts]
        before = {e.ids: self.margin(e) for e in memory}
        self._round += 1
        order = replay.nearest(lesson, len(memory), prompts)
        place = {e.ids: number for number, e in enumerate(order)}
        weak = sorted(memory, key=lambda e: before[e.ids])[:SAMPLE]
        some = rng.sample(memory, min(SAMPLE, len(memory)))
        todo = {e.ids: e for e in [*order[:SAMPLE], *weak, *some]}
        falls: dict[tuple[int, ...], float] = {}
        most = MOST_OF_LARGE if replay.model.config.parameters > LARGE else MOST
        while todo:
            self.measure(model, todo.values(), pause=pause)
            falls |= {ids: before[ids] - self._seen[ids].margin for ids in todo}
            reach = _reach([(place[ids], fall) for ids, fall in falls.items()])
            expected = [
                (before[e.ids] - SAFETY * reach(place[e.ids]), e)
                for e in memory
                if e.ids not in falls
            ]
            likely = sorted((pair for pair in expected if pair[0] < 0.0), key=itemgetter(0))
            todo = {e.ids: e for _, e in likely[: max(0, most - len(falls))]}
        if falls:
            usual = max(0.0, sorted(falls.values())[int(AGEING * (len(falls) - 1))])
            for example in memory:
                if example.ids not in falls:
                    old = self._seen[example.ids]
                    # never to 0: only a measurement may call an example forgotten
                    lowered = max(old.margin - usual, 1e-6) if old.margin > 0 else old.margin
                    self._seen[example.ids] = Margin(lowered, old.round, old.once)
        return self.broken(e for e in memory if before[e.ids] > 0.0)

    def broken(self, memory: Iterable[Example]) -> list[Example]:
        """Examples that are not known, smallest margin first."""
        wrong = [e for e in memory if self.margin(e) <= 0.0]
        return sorted(wrong, key=self.margin)

    def lost(self, memory: Iterable[Example]) -> list[Example]:
        """Examples that were known once and are not now, smallest margin first."""
        return [e for e in self.broken(memory) if self._seen[e.ids].once]

    def overdue(self, memory: Iterable[Example], count: int) -> list[Example]:
        """Up to `count` examples not measured in this round, the stalest first."""
        old = [e for e in memory if self._seen[e.ids].round < self._round]
        return sorted(old, key=lambda e: self._seen[e.ids].round)[:count]

    def save(self, path: Path, version: int) -> None:
        """Writes the margins of the published weights of this version."""
        seen = {_key(ids): [round(s.margin, 3), s.once] for ids, s in self._seen.items()}
        write_atomically(path, json.dumps({"version": version, "seen": seen}))

    def load(
        self,
        path: Path,
        version: int,
        memory: Iterable[Example],
        comes_from: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """Reads what `save` wrote for this version. Of a version that this one comes from only what was ever
        known counts: after a kill between weights and margins, or a practice, what was lost is to be mended.
        Any other file is ignored: it only costs the time to measure again."""
        try:
            record = read_json(path, WATCH_BYTES)
            same = record["version"] == version
            if not same and not comes_from(int(record["version"])):
                return
            for example in memory:
                if (found := record["seen"].get(_key(example.ids))) is not None:
                    margin, once = found
                    if same:
                        self._seen[example.ids] = Margin(float(margin), -1, bool(once))
                    elif once:
                        self._known_earlier.add(example.ids)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return

    def state(self) -> dict[tuple[int, ...], Margin]:
        """A copy, for `restore`."""
        return dict(self._seen)

    def restore(self, state: dict[tuple[int, ...], Margin]) -> None:
        """Puts a copy back, when steps are undone."""
        self._seen = dict(state)


def _reach(falls: list[tuple[int, float]]) -> Callable[[int], float]:
    """Expected drop by rank, from measured (rank, drop) pairs: the largest drop at rank / NEARNESS or
    beyond."""
    falls = sorted(falls)
    places = [place for place, _ in falls]
    largest = list(accumulate((fall for _, fall in reversed(falls)), max))[::-1]  # from there on

    def reach(place: int) -> float:
        first = bisect_left(places, place / NEARNESS)
        return largest[first] if first < len(largest) else 0.0

    return reach


@lru_cache(maxsize=1 << 14)
def _key(ids: tuple[int, ...]) -> str:
    """Stands for an example in the file; kept, because every lesson writes those of the whole memory."""
    return hashlib.blake2b(str(ids).encode(), digest_size=8).hexdigest()
