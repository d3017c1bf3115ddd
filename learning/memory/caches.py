"""Everything that is derived from a model's weights and its memory, and costs time to make.

The replay memory, the outputs of the frozen blocks, the anchor reference, the margins. Each is made
when it is first needed and kept from lesson to lesson.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

from engine.errors import CheckpointError
from engine.freed_memory import return_freed_memory
from engine.packed import replaced
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example
from learning.home import Home
from learning.journal.journal import Journal
from learning.memory.book_rows import BookRow, book_paths, book_rows
from learning.memory.build import build_replay
from learning.memory.margins import Margin, MarginTracker
from learning.memory.own_talk import renewed_talk, write_talk
from learning.memory.packed_rows import upper_model
from learning.memory.prefix_cache import LARGE, PrefixCache, UpperModel
from learning.memory.reference import KeptReference, open_reference, weights_mark
from learning.memory.replay import Replay
from learning.memory.rewording import reworded, unseen
from learning.models.files import TALK, reference_version
from learning.models.home_files import last_written
from learning.models.weights import Weights
from personality.parsed import ParsedBooks

WATCH = "watch.json"
PIECE = 32
"""Rows that go through the frozen blocks between two reports."""
TRUNK = "trunk.safetensors"
"""Outputs of the frozen blocks of a large model."""

MarginState = dict[tuple[int, ...], Margin]


class LearnerCaches:
    """Caches of the master weights of one model."""

    def __init__(
        self,
        home: Home,
        weights: Weights,
        tokenizer: Tokenizer,
        journal: Journal,
        frozen_blocks: int,
        pause: Callable[[], None],
    ) -> None:
        self._home, self._weights, self.tokenizer = home, weights, tokenizer
        self._journal, self._frozen_blocks, self._pause = journal, frozen_blocks, pause
        self.books = ParsedBooks()
        self.book_rows: list[BookRow] = []
        """Of both books, as they were last read."""
        self._replay: Replay | None = None
        self._trunk: PrefixCache | None = None
        self._reference: KeptReference | None = None
        self._tracker = MarginTracker()
        self._dreamt: int | None = None
        """Version of the weights that sampled all of own talk, if that was just now."""
        self._on_forget: list[Callable[[], None]] = []

    def forget(self) -> None:
        """Drops all caches, because all weights or the books have changed, and tells who asked to know."""
        self._replay, self._trunk, self._reference, self._tracker = (
            None,
            None,
            None,
            MarginTracker(),
        )
        for tell in self._on_forget:
            tell()

    def on_forget(self, tell: Callable[[], None]) -> None:
        """Calls `tell` whenever all caches are dropped."""
        self._on_forget.append(tell)

    def read_books_again(self, skip_bad: bool = False) -> Replay:
        """Rebuilds the memory from the books as they are now and drops its margins. Raises DataError."""
        model, paths = self._weights.model, book_paths(self._home.book_path)
        self.book_rows = book_rows(
            self.tokenizer, paths, model.config.context, skip_bad, self.books
        )
        folder, version = self._weights.folder, self._weights.version
        written = last_written(folder / TALK)
        self._replay = build_replay(
            model, self.tokenizer, folder, self.book_rows, self._journal, version
        )
        if last_written(folder / TALK) != written:
            self._dreamt = version
        self._reference = None  # its rows are own talk as it was read now
        self._tracker = MarginTracker()
        return self._replay

    @property
    def replay(self) -> Replay:
        """The memory. Raises DataError for a book with bad lines."""
        return self.read_books_again() if self._replay is None else self._replay

    @property
    def trunk(self) -> PrefixCache:
        """Outputs of the frozen lower blocks; lessons do not change them."""
        if self._trunk is None:
            self._trunk = PrefixCache(self._weights.model, self._frozen_blocks)
            if (file := self._weights.folder / TRUNK).exists():
                self._trunk.load(file, weights_mark(self._weights.model, self._trunk))
        return self._trunk

    @property
    def upper(self) -> UpperModel:
        """The blocks that lessons train, on top of the cached outputs."""
        start = len(self.tokenizer.chat.start)
        return upper_model(self._weights.model, self.trunk, start)

    @property
    def reference(self) -> KeptReference:
        """How the model's own talk was predicted, captured when all weights were last trained."""
        if self._reference is None:
            self._reference = open_reference(
                self._weights.model,
                self.trunk,
                self.replay.talk,
                self._weights.folder,
                self._talk_version(),
                pause=self._pause,
            )
            self.replay.talk = [e for e in self.replay.talk if self._reference.has(e)]
        return self._reference

    def _talk_version(self) -> int | None:
        """The version of the present weights, if own talk comes from them or from weights that they were made
        of; None if that is not known, as after an undo or a rollback. Forgetting asks for it
        (learning.lessons.forget_weights)."""
        folder, now = self._weights.folder, self._weights.version
        told = reference_version(folder)
        untaught = now == 0 and not self._journal.has_published(folder)
        made_of = told is not None and self._journal.comes_from(now, told)
        return now if untaught or made_of or self._dreamt == now else None

    @property
    def tracker(self) -> MarginTracker:
        """Margins of the whole memory; measures what was never measured."""
        memory, version = self.replay.memory, self._weights.version
        if not len(self._tracker):
            self._tracker.load(
                self._path, version, memory, lambda old: self._journal.comes_from(version, old)
            )
        self._tracker.measure_new(self.upper, memory, pause=self._pause)
        return self._tracker

    @property
    def book_recall(self) -> float:
        """Exact recall of the book at the last measurement, 0 to 1."""
        return self.tracker.recall(self.replay.book)

    def draw_wordings(self, example: Example, rng: random.Random) -> tuple[Example, ...]:
        """Draws new wordings of a taught example and replays them in place of the old ones; returns none
        for an example that has none."""
        replay, context = self.replay, self._weights.model.config.context
        if replay.wordings.get(example.ids):
            drawn = reworded(self.tokenizer, example, replay.frames, context, rng)
            replay.wordings[example.ids] = drawn
        return replay.wordings.get(example.ids, ())

    def unseen_wordings(self, example: Example, count: int) -> list[Example]:
        """Up to `count` wordings of a taught example that no step has seen and none will see, and that are
        no other example's prompt."""
        drawn = unseen(self.tokenizer, example, self._weights.model.config.context)
        claimed = {e.prompt for e in self.replay.memory}
        return [e for e in drawn if e.prompt not in claimed][:count]

    def renew_talk(self, rng: random.Random) -> bool:
        """Replaces some rows of own talk by new ones, said by the model as it was for the reference. Returns
        False if the reference's file lacks the matrices for that, as files of earlier versions do."""
        weights, published = self.reference.weights(), self._weights.published.model
        if weights is None:
            return False
        speaker = replaced(published, weights.cast(published))
        talk = renewed_talk(speaker, self.tokenizer, self.replay.talk, rng, pause=self._pause)
        written = self.reference.follow(talk, weights, pause=self._pause)
        self.replay.talk = talk
        write_talk(talk, self._weights.folder)
        self.tidy()
        if written:
            self._write_trunk()
            return_freed_memory()  # rows that went have left holes, 100 MB by now
        return True

    def margins(self) -> MarginState:
        """A copy of the margins, for `restore`."""
        return self._tracker.state()

    def restore(self, margins: MarginState) -> None:
        """Puts the margins back when steps are undone."""
        self._tracker.restore(margins)

    def save(self) -> None:
        """Writes the margins beside the weights that were just published."""
        if len(self._tracker):
            with contextlib.suppress(
                OSError
            ):  # a full disk: they are measured again at the next start
                self._tracker.save(self._path, self._weights.version)

    def prepare(self) -> None:
        """Makes all caches now, so that the next lesson need not wait for them."""
        _ = self.tracker, self.reference
        self.trunk.fill(
            self.replay.memory, pause=self._pause
        )  # outputs for own talk follow as it is drawn

    def keep_prepared(self, passed: Callable[[int], None] = lambda _: None) -> None:
        """Makes all caches and writes what later starts read: for a model that was just brought in. The
        owner's own lines are left out of the outputs that are written. passed: called with the ids of
        rows that have just gone through the frozen blocks, which takes longest."""
        rows = sorted([*self.replay.memory, *self.replay.talk], key=lambda e: len(e.ids))
        for first in range(0, len(rows), PIECE):
            piece = rows[first : first + PIECE]
            self.trunk.fill(piece, pause=self._pause)
            passed(sum(len(e.ids) for e in piece))
        self.prepare()
        self.save()
        self._write_trunk()

    def _write_trunk(self) -> None:
        """Writes the frozen blocks' outputs of the shipped book and of own talk, if the model is large."""
        model, shipped = self._weights.model, book_paths(self._home.book_path)[0].name
        if model.config.parameters > LARGE:
            kept = [row.example for row in self.book_rows if row.place.startswith(f"{shipped}:")]
            mark = weights_mark(model, self.trunk)
            with contextlib.suppress(CheckpointError):  # a full disk: made at each start
                rows = [*kept, *self.replay.talk]
                self.trunk.save(self._weights.folder / TRUNK, mark, rows)

    def tidy(self) -> None:
        """Drops cached outputs of examples that are no longer replayed."""
        self.trunk.keep([*self.replay.memory, *self.replay.talk])

    @property
    def _path(self) -> Path:
        return self._weights.folder / WATCH
