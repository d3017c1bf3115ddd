"""Save points of a long run (practice, distillation), recorded as one lesson in the journal.

So `undo`, `rollback` and snapshots work for the whole run: only the first save keeps a snapshot of the
weights before it, and each saved version contains the run's lesson.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from learning.journal.journal import Journal
from learning.memory.transaction import Attempt, Commit
from learning.protocol.records import Lesson, Turn


class SavePoints(Protocol):
    """What a long run needs of the store of weights."""

    def save(self, note: str) -> None:
        """Publishes the present weights."""
        ...

    def restore(self) -> None:
        """Restores the weights published last."""
        ...


class LessonSavePoints:
    """SavePoints of an attempt that continues after each save. The first save records a lesson of kind
    "practice"."""

    def __init__(
        self,
        attempt: Attempt,
        journal: Journal,
        task: str,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        """task: name of the practice task or of the distillation; becomes the prompt of the lesson. before:
        called before each save."""
        self._attempt, self._journal, self._task = attempt, journal, task
        self._before = before
        self.lesson: int | None = None
        """Id of the lesson in the journal; None until the first save."""

    def save(self, note: str) -> None:
        """Publishes the present weights. Raises JournalError or CheckpointError, and then keeps nothing."""
        self._before()
        first = self.lesson is None
        if self.lesson is None:
            lesson = Lesson("practice", (Turn("user", self._task),), "", state="needs_practice")
            self.lesson = self._journal.add_lessons([lesson])[0].id
        self._attempt.publish(Commit([self.lesson], note, snapshot=first), go_on=True)
        if first:
            self._journal.set_lesson_state(self.lesson, "learned")

    def restore(self) -> None:
        """Restores the weights published last."""
        self._attempt.put_back()
