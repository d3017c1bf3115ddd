"""What a model has in mind while it learns: the memory, its lower blocks' outputs, its voice, its margins.

Each is made when it is first needed, since that takes a moment, and kept from lesson to lesson.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

from engine.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.home import Home
from learning.journal.journal import Journal
from learning.memory.build import build_replay
from learning.memory.margins import Margin, MarginTracker
from learning.memory.prefix_cache import PrefixCache, UpperModel
from learning.memory.reference import AnchorReference, open_reference
from learning.memory.replay import Replay
from learning.memory.rewording import reworded
from learning.models.weights import Weights

WATCH = "watch.json"

MarginState = dict[tuple[int, ...], Margin]


class LearnerCaches:
    """Of the master weights of one model."""

    def __init__(
        self,
        home: Home,
        weights: Weights,
        tokenizer: Tokenizer,
        journal: Journal,
        frozen_blocks: int,
        pause: Callable[[], None],
    ) -> None:
        self._home, self._weights, self._tokenizer = home, weights, tokenizer
        self._journal, self._frozen_blocks, self._pause = journal, frozen_blocks, pause
        self._replay: Replay | None = None
        self._trunk: PrefixCache | None = None
        self._reference: AnchorReference | None = None
        self._tracker = MarginTracker()

    def forget(self) -> None:
        """All weights or the books have changed: everything is made anew when it is needed."""
        self._replay, self._trunk, self._reference, self._tracker = (
            None,
            None,
            None,
            MarginTracker(),
        )

    def read_books_again(self, skip_bad: bool = False) -> Replay:
        """The memory with the books as they are now; margins of it are not known. Raises DataError."""
        self._replay = build_replay(
            self._weights.model,
            self._tokenizer,
            self._weights.folder,
            self._home.book_path,
            self._journal,
            self._weights.version,
            skip_bad=skip_bad,
        )
        self._tracker = MarginTracker()
        return self._replay

    @property
    def replay(self) -> Replay:
        """Raises DataError for a book with bad lines."""
        return self.read_books_again() if self._replay is None else self._replay

    @property
    def trunk(self) -> PrefixCache:
        """The lower blocks, and what they make of the memory; lessons leave it alone."""
        if self._trunk is None:
            self._trunk = PrefixCache(self._weights.model, self._frozen_blocks)
        return self._trunk

    @property
    def upper(self) -> UpperModel:
        """The model on its trunk."""
        return UpperModel(self._weights.model, self.trunk)

    @property
    def reference(self) -> AnchorReference:
        """How the model talked when its lower blocks were last trained."""
        if self._reference is None:
            self._reference = open_reference(
                self._weights.model,
                self.trunk,
                self.replay.talk,
                self._weights.folder,
                pause=self._pause,
            )
        return self._reference

    @property
    def tracker(self) -> MarginTracker:
        """What is known of the memory, all of which has been looked at."""
        memory = self.replay.memory
        if not len(self._tracker):
            self._tracker.load(self._path, self._weights.version, memory)
        self._tracker.look_at_new(self.upper, memory, pause=self._pause)
        return self._tracker

    @property
    def book_recall(self) -> float:
        """Exact recall of the book as last seen, 0 to 1."""
        return self.tracker.recall(self.replay.book)

    def draw_wordings(self, example: Example, rng: random.Random) -> tuple[Example, ...]:
        """Other wordings of a taught example, in place of those that are replayed; none where it has none."""
        replay, context = self.replay, self._weights.model.config.context
        if replay.wordings.get(example.ids):
            drawn = reworded(self._tokenizer, example, replay.frames, context, rng)
            replay.wordings[example.ids] = drawn
        return replay.wordings.get(example.ids, ())

    def margins(self) -> MarginState:
        """For `restore`."""
        return self._tracker.state()

    def restore(self, margins: MarginState) -> None:
        """The margins as they were, when steps are taken back."""
        self._tracker.restore(margins)

    def save(self) -> None:
        """Keeps the margins beside the weights that were just published."""
        if len(self._tracker):
            with contextlib.suppress(OSError):  # a full disk: they are looked at anew
                self._tracker.save(self._path, self._weights.version)

    def prepare(self) -> None:
        """Makes all of it now, so that the next lesson does not wait for it."""
        _ = self.tracker, self.reference
        self.trunk.fill(self.replay.memory, pause=self._pause)  # talk follows as it is drawn

    def tidy(self) -> None:
        """Drops kept outputs of what is no longer replayed."""
        self.trunk.keep([*self.replay.memory, *self.replay.talk])

    @property
    def _path(self) -> Path:
        return self._weights.folder / WATCH
