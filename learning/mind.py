"""What a model has in mind while it learns: the memory, its lower blocks' outputs, its voice, its margins.

Each is made when it is first needed, since that takes a moment, and kept from lesson to lesson.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

from engine.tokenizer import Tokenizer
from learning.examples import Example
from learning.home import Home
from learning.journal import Journal
from learning.memory import build_replay
from learning.replay import Replay
from learning.teaching import TeachSettings
from learning.trunk import Trunk, Upper
from learning.voice import Voice, open_voice
from learning.watch import Seen, Watch
from learning.weights import Weights
from learning.wordings import reworded

WATCH = "watch.json"

Margins = dict[tuple[int, ...], Seen]


class Mind:
    """Of the master weights of one model."""

    def __init__(
        self,
        home: Home,
        weights: Weights,
        tokenizer: Tokenizer,
        journal: Journal,
        settings: TeachSettings,
        pause: Callable[[], None],
    ) -> None:
        self._home, self._weights, self._tokenizer = home, weights, tokenizer
        self._journal, self._settings, self._pause = journal, settings, pause
        self._replay: Replay | None = None
        self._trunk: Trunk | None = None
        self._voice: Voice | None = None
        self._watch = Watch()

    def forget(self) -> None:
        """All weights or the books have changed: everything is made anew when it is needed."""
        self._replay, self._trunk, self._voice, self._watch = None, None, None, Watch()

    def forget_trunk(self) -> None:
        """The lower blocks have changed too."""
        self._trunk = self._voice = None

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
        self._watch = Watch()
        return self._replay

    @property
    def replay(self) -> Replay:
        """Raises DataError for a book with bad lines."""
        return self.read_books_again() if self._replay is None else self._replay

    @property
    def trunk(self) -> Trunk:
        """The lower blocks, and what they make of the memory; lessons leave it alone."""
        if self._trunk is None:
            model = self._weights.model
            self._trunk = Trunk(model, self._settings.trunk_layers(len(model.blocks)))
        return self._trunk

    @property
    def upper(self) -> Upper:
        """The model on its trunk."""
        return Upper(self._weights.model, self.trunk)

    @property
    def voice(self) -> Voice:
        """How the model talked when its lower blocks were last trained."""
        if self._voice is None:
            self._voice = open_voice(
                self._weights.model,
                self.trunk,
                self.replay.talk,
                self._weights.folder,
                pause=self._pause,
            )
        return self._voice

    @property
    def watch(self) -> Watch:
        """What is known of the memory, all of which has been looked at."""
        memory = self.replay.memory
        if not len(self._watch):
            self._watch.load(self._path, self._weights.version, memory)
        self._watch.look_at_new(self.upper, memory, pause=self._pause)
        return self._watch

    @property
    def book_recall(self) -> float:
        """Exact recall of the book as last seen, 0 to 1."""
        return self.watch.recall(self.replay.book)

    def draw_wordings(self, example: Example, rng: random.Random) -> tuple[Example, ...]:
        """Other wordings of a taught example, in place of those that are replayed; none where it has none."""
        replay, context = self.replay, self._weights.model.config.context
        if replay.wordings.get(example.ids):
            drawn = reworded(self._tokenizer, example, replay.frames, context, rng)
            replay.wordings[example.ids] = drawn
        return replay.wordings.get(example.ids, ())

    def margins(self) -> Margins:
        """For `restore`."""
        return self._watch.state()

    def restore(self, margins: Margins) -> None:
        """The margins as they were, when steps are taken back."""
        self._watch.restore(margins)

    def save(self) -> None:
        """Keeps the margins beside the weights that were just published."""
        if len(self._watch):
            with contextlib.suppress(OSError):  # a full disk: they are looked at anew
                self._watch.save(self._path, self._weights.version)

    def prepare(self) -> None:
        """Makes all of it now, so that the next lesson does not wait for it."""
        _ = self.watch, self.voice
        self.trunk.fill(self.replay.memory, pause=self._pause)  # talk follows as it is drawn

    def tidy(self) -> None:
        """Drops kept outputs of what is no longer replayed."""
        self.trunk.keep([*self.replay.memory, *self.replay.talk])

    @property
    def _path(self) -> Path:
        return self._weights.folder / WATCH
