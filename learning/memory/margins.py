"""How well everything remembered was known when it was last looked at, and what to look at again.

Looking at the whole memory after every lesson would cost more than the lesson, and more with each
one. A lesson lowers margins: most where questions are close to it, and only what had a small margin
can break. So the closest, the weakest and some at random are looked at; whatever the largest fall
seen there, among what is not much closer to the lesson, could have broken is looked at too, up to a
limit, so that a lesson costs the same however much is known. All others are taken to have fallen as
most did. Left out: proof. `overdue` lists what was not looked at for longest, for a pause to catch up
with.
"""

from __future__ import annotations

import hashlib
import json
import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from pathlib import Path

from engine.model import Model
from engine.storage.files import write_atomically
from engine.storage.reading import read_json
from learning.data.examples import Example
from learning.memory.prefix_cache import UpperModel
from learning.memory.replay import Replay
from learning.objectives.forward import knowledge

SAMPLE = 32
"""Examples of each kind that are looked at first: close, weak, random."""
SAFETY = 1.25
"""What had a margin of more than this times the fall that is expected is taken to be known still."""
NEARNESS = 8
"""How many times closer to the lesson, counted in remembered examples, one may be whose fall another is
expected to share: those next to it fall deep, and say little of all the others."""
MOST = 256
"""Examples that are looked at after the steps, at most."""
WATCH_BYTES = 1 << 28
"""Of the largest file of margins that is read; an example takes forty."""
AGEING = 0.75
"""Share of the falls seen that are below the one by which the margins of all others are lowered."""


@dataclass(frozen=True)
class Margin:
    """The state of one example."""

    margin: float
    """Smallest lead in logits, see learning.objectives.forward.Knowledge; lowered by ageing."""
    round: int
    """When it was really looked at; -1: before this program began."""
    once: bool
    """It was known at some time."""


class MarginTracker:
    """Margins of the memory of one model."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, ...], Margin] = {}
        self._round = 0

    def __len__(self) -> int:
        """Examples that were looked at."""
        return len(self._seen)

    def recall(self, examples: Sequence[Example]) -> float:
        """Share known, 0 to 1, as last seen; 1 where there is nothing to know."""
        if not examples:
            return 1.0
        return sum(self.margin(e) > 0.0 for e in examples) / len(examples)

    def margin(self, example: Example) -> float:
        """As last seen; KeyError for what was never looked at."""
        return self._seen[example.ids].margin

    def look(
        self,
        model: Model | UpperModel,
        examples: Iterable[Example],
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Looks at these now."""
        unique = list({e.ids: e for e in examples}.values())
        for example, item in zip(unique, knowledge(model, unique, pause=pause), strict=True):
            old = self._seen.get(example.ids)
            once = item.known or (old is not None and old.once)
            self._seen[example.ids] = Margin(item.margin, self._round, once)

    def look_at_new(
        self,
        model: Model | UpperModel,
        memory: Iterable[Example],
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Looks at what was never looked at, and forgets what is not in memory any more."""
        memory = list(memory)
        ids = {e.ids for e in memory}
        self._seen = {key: seen for key, seen in self._seen.items() if key in ids}
        self.look(model, [e for e in memory if e.ids not in self._seen], pause=pause)

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
        """What the steps for this lesson have broken, smallest margin first: known before them as last
        seen, and not now.

        All of the memory must have been looked at before. What answers the lesson's own `prompts` is
        left out, since the lesson replaces it.
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
        while todo:
            self.look(model, todo.values(), pause=pause)
            falls |= {ids: before[ids] - self._seen[ids].margin for ids in todo}
            reach = _reach([(place[ids], fall) for ids, fall in falls.items()])
            expected = [
                (before[e.ids] - SAFETY * reach(place[e.ids]), e)
                for e in memory
                if e.ids not in falls
            ]
            likely = sorted((pair for pair in expected if pair[0] < 0.0), key=itemgetter(0))
            todo = {e.ids: e for _, e in likely[: MOST - len(falls)]}
        if falls:
            usual = max(0.0, sorted(falls.values())[int(AGEING * (len(falls) - 1))])
            for example in memory:
                if example.ids not in falls:
                    old = self._seen[example.ids]
                    # never to 0: nothing is called forgotten that was not looked at
                    lowered = max(old.margin - usual, 1e-6) if old.margin > 0 else old.margin
                    self._seen[example.ids] = Margin(lowered, old.round, old.once)
        return self.broken(e for e in memory if before[e.ids] > 0.0)

    def broken(self, memory: Iterable[Example]) -> list[Example]:
        """What is not known, smallest margin first."""
        wrong = [e for e in memory if self.margin(e) <= 0.0]
        return sorted(wrong, key=self.margin)

    def lost(self, memory: Iterable[Example]) -> list[Example]:
        """What was known once and is not now, smallest margin first."""
        return [e for e in self.broken(memory) if self._seen[e.ids].once]

    def overdue(self, memory: Iterable[Example], count: int) -> list[Example]:
        """Up to `count` that were not looked at in this round, those longest ago first."""
        old = [e for e in memory if self._seen[e.ids].round < self._round]
        return sorted(old, key=lambda e: self._seen[e.ids].round)[:count]

    def save(self, path: Path, version: int) -> None:
        """Writes what is known of the weights that were published under this version."""
        seen = {_key(ids): [round(s.margin, 3), s.once] for ids, s in self._seen.items()}
        write_atomically(path, json.dumps({"version": version, "seen": seen}))

    def load(self, path: Path, version: int, memory: Iterable[Example]) -> None:
        """Reads what `save` wrote for the same version; anything else is passed over, since all that
        is lost by it is the time to look again."""
        try:
            record = read_json(path, WATCH_BYTES)
            if record["version"] != version:
                return
            for example in memory:
                if (found := record["seen"].get(_key(example.ids))) is not None:
                    margin, once = found
                    self._seen[example.ids] = Margin(float(margin), -1, bool(once))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return

    def state(self) -> dict[tuple[int, ...], Margin]:
        """For `restore`, when steps are taken back."""
        return dict(self._seen)

    def restore(self, state: dict[tuple[int, ...], Margin]) -> None:
        """The margins as they were."""
        self._seen = dict(state)


def _reach(falls: list[tuple[int, float]]) -> Callable[[int], float]:
    """The largest fall that is to be expected at a place, from those seen at (place, fall): the
    largest among all that are not more than NEARNESS times closer."""
    falls = sorted(falls)
    places = [place for place, _ in falls]
    largest = list(accumulate((fall for _, fall in reversed(falls)), max))[::-1]  # from there on

    def reach(place: int) -> float:
        first = bisect_left(places, place / NEARNESS)
        return largest[first] if first < len(largest) else 0.0

    return reach


def _key(ids: tuple[int, ...]) -> str:
    return hashlib.blake2b(str(ids).encode(), digest_size=8).hexdigest()
