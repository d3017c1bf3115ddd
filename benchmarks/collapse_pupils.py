"""The two kinds of pupil in the collapse benchmark: Vidya's learner as it is, and an attempt.

The learner is the one that the app runs, with replay, guard, journal and publication, so that its
seconds are those that an owner waits.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from benchmarks.baselines import ATTEMPTS
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.book_rows import book_examples
from learning.memory.tasks import to_task
from learning.protocol.records import Lesson
from personality.book import shipped_book_path

RECIPE, WITHOUT_PAUSES = "recipe", "recipe-without-pauses"
METHODS: dict[str, str] = {
    RECIPE: "Vidya's learner, with the pauses in which it mends",
    **{name: attempt.what for name, attempt in ATTEMPTS.items()},
    WITHOUT_PAUSES: "Vidya's learner, never given a pause",
}
"""Name -> what it is, in the order of the tables."""


class Pupil(Protocol):
    """What is taught."""

    @property
    def model(self) -> Model:
        """The weights that answer now."""
        ...

    def learn(self, lesson: Lesson) -> bool:
        """Returns False where the guard threw the steps away."""
        ...

    def rest(self, seconds: float) -> float:
        """A pause of at most `seconds`; returns those that were used."""
        ...


@contextmanager
def open_pupil(method: str, folder: Path, seed: int) -> Iterator[Pupil]:
    """A pupil whose model is a copy of the folder's."""
    if method in ATTEMPTS:
        yield AttemptPupil(method, folder)
        return
    with open_learner(folder, seed, pauses=method == RECIPE) as pupil:
        yield pupil


@contextmanager
def open_learner(folder: Path, seed: int, *, pauses: bool) -> Iterator[LearnerPupil]:
    """Vidya's learner in a home of its own, on a copy of the folder's model."""
    place = Path(tempfile.mkdtemp(prefix="vidya-collapse-"))
    try:
        home = Home(place)
        own = home.models_path / folder.name
        shutil.copytree(folder, own, ignore=shutil.ignore_patterns("snapshots", ".*"))
        journal = Journal(home.journal_path)
        try:
            yield LearnerPupil(home, own, journal, seed, pauses=pauses)
        finally:
            journal.close()
    finally:
        shutil.rmtree(place, ignore_errors=True)


class LearnerPupil:
    """Vidya's learner."""

    def __init__(
        self, home: Home, folder: Path, journal: Journal, seed: int, *, pauses: bool
    ) -> None:
        self.home, self._journal, self._pauses = home, journal, pauses
        self._learner = Learner(home, folder, journal, seed=seed)

    @property
    def model(self) -> Model:
        return self._learner.published.model

    def learn(self, lesson: Lesson) -> bool:
        (journaled,) = self._journal.add_lessons([lesson])
        return not self._learner.learn(journaled).rolled_back

    def rest(self, seconds: float) -> float:
        started = time.perf_counter()
        if self._pauses:
            while time.perf_counter() - started < seconds and self._learner.catch_up():
                pass
        return time.perf_counter() - started


class AttemptPupil:
    """One of benchmarks.baselines, which knows no pause, no journal and no guard."""

    def __init__(self, method: str, folder: Path) -> None:
        self._model, self._tokenizer = load_model(folder), Tokenizer.load(folder)
        self._context = self._model.config.context
        book = book_examples(self._tokenizer, [shipped_book_path()], self._context)
        self._attempt = ATTEMPTS[method].make(self._model, book)

    @property
    def model(self) -> Model:
        return self._model

    def learn(self, lesson: Lesson) -> bool:
        self._attempt.learn(to_task(self._tokenizer, lesson, self._context))
        return True

    def rest(self, seconds: float) -> float:
        return 0.0
