"""Practice's weights in journal and home: one practice is one lesson, however often it is saved.

So `undo`, `rollback` and snapshots work for it: only the first save keeps the weights before it as a
snapshot, and each version names the practice that made it.
"""

from __future__ import annotations

from learning.journal.journal import Journal
from learning.models.weights import Weights
from learning.protocol.records import Lesson, Turn


class PracticeWeights:
    """What learning.practice.run needs of the learner's weights."""

    def __init__(self, weights: Weights, journal: Journal, task: str) -> None:
        self._weights, self._journal, self._task = weights, journal, task
        self._last = weights.state()
        self.lesson: int | None = None
        """Its number in the journal; None until something was saved."""

    def save(self, note: str) -> None:
        """Publishes. Raises JournalError or CheckpointError; nothing new is kept then."""
        first = self.lesson is None
        if self.lesson is None:
            lesson = Lesson("practice", (Turn("user", self._task),), "", state="needs_practice")
            self.lesson = self._journal.add_lessons([lesson])[0].id
        self._weights.publish([self.lesson], note, snapshot=first)
        if first:
            self._journal.set_lesson_state(self.lesson, "learned")
        self._last = self._weights.state()

    def restore(self) -> None:
        """As last published."""
        self._weights.restore(self._last)
