"""The two kinds of pupils in the collapse benchmark: Vidya's learner, and a failed method.

The learner is the app's, with replay, guard, journal and publication, so its times are those that an owner
would wait.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from benchmarks.baselines import ATTEMPTS, Make
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.book_rows import book_examples
from learning.memory.replay import Replay
from learning.memory.tasks import to_task
from learning.protocol.records import Lesson
from personality.book import shipped_book_path

RECIPE, WITHOUT_PAUSES = "recipe", "recipe-without-pauses"
METHODS: dict[str, str] = {
    RECIPE: "Vidya's learner, with the pauses in which it mends",
    **{name: attempt.what for name, attempt in ATTEMPTS.items()},
    WITHOUT_PAUSES: "Vidya's learner, never given a pause",
}
"""Name -> description, in the order of the tables."""


Timer = Callable[[], float]
"""Seconds since some moment, of the wall or of the processor."""


class Pupil(Protocol):
    """A model with a way to teach it."""

    @property
    def model(self) -> Model:
        """The present weights."""
        ...

    def learn(self, lesson: Lesson) -> bool:
        """Teaches a lesson; False if the guard rolled it back."""
        ...

    def rest(self, seconds: float, timer: Timer = time.perf_counter) -> float:
        """Gives a pause of at most `seconds` of the timer; returns those used."""
        ...


@contextmanager
def open_pupil(method: str, folder: Path, seed: int) -> Iterator[Pupil]:
    """A pupil with a copy of the folder's model."""
    if method in ATTEMPTS:
        yield AttemptPupil(folder, ATTEMPTS[method].make)
        return
    with open_learner(folder, seed, pauses=method == RECIPE) as pupil:
        yield pupil


@contextmanager
def open_learner(
    folder: Path, seed: int, *, pauses: bool, saved: Path | None = None
) -> Iterator[LearnerPupil]:
    """Vidya's learner in a scratch home, with a copy of the folder's model. saved: a home that was written by
    LearnerPupil.save; the learner goes on from it, as after a restart of the program."""
    place = Path(tempfile.mkdtemp(prefix="vidya-collapse-"))
    try:
        home = Home(place)
        own = home.models_path / folder.name
        if saved is None:
            shutil.copytree(folder, own, ignore=shutil.ignore_patterns("snapshots", ".*"))
        else:
            shutil.copytree(saved, place, dirs_exist_ok=True)
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
        self.home, self.journal, self._pauses = home, journal, pauses
        self._learner = Learner(home, folder, journal, seed=seed)

    @property
    def model(self) -> Model:
        return self._learner.published.model

    def learn(self, lesson: Lesson) -> bool:
        (journaled,) = self.journal.add_lessons([lesson])
        return not self._learner.learn(journaled).rolled_back

    def save(self, target: Path) -> None:
        """Copies its home to a new folder. Between two lessons nothing writes into the home, so the copy is
        consistent. Raises OSError."""
        shutil.copytree(self.home.path, target, ignore=shutil.ignore_patterns("*-shm"))

    @property
    def masters(self) -> Model:
        """The weights that learn, of which `model` is a copy."""
        return self._learner.weights.model

    @property
    def replay(self) -> Replay:
        """What it remembers."""
        return self._learner.replay

    def rest(self, seconds: float, timer: Timer = time.perf_counter) -> float:
        started = timer()
        if self._pauses:
            while timer() - started < seconds and self._learner.catch_up():
                pass
        return timer() - started


class AttemptPupil:
    """A method of benchmarks.baselines; it has no pauses, journal or guard."""

    def __init__(self, folder: Path, make: Make) -> None:
        self._model, self._tokenizer = load_model(folder), load_tokenizer(folder)
        self._context = self._model.config.context
        book = book_examples(self._tokenizer, [shipped_book_path()], self._context)
        self._attempt = make(self._model, book)

    @property
    def model(self) -> Model:
        return self._model

    def learn(self, lesson: Lesson) -> bool:
        self._attempt.learn(to_task(self._tokenizer, lesson, self._context))
        return True

    def rest(self, seconds: float, timer: Timer = time.perf_counter) -> float:
        return 0.0
