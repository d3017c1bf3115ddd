"""Practice's weights in journal and home: one practice is one lesson, however often it is saved.

So `undo`, `rollback` and snapshots work for it: only the first save keeps the weights before it as a
snapshot, and each version names the practice that made it.
"""

from __future__ import annotations

from learning.journal.journal import Journal
from learning.memory.transaction import Attempt, Commit
from learning.protocol.records import Lesson, Turn


class PracticeWeights:
    """What learning.practice.run needs of the learner's weights: an attempt that goes on after each save."""

    def __init__(self, attempt: Attempt, journal: Journal, task: str) -> None:
        self._attempt, self._journal, self._task = attempt, journal, task
        self.lesson: int | None = None
        """Its number in the journal; None until something was saved."""

    def save(self, note: str) -> None:
        """Publishes. Raises JournalError or CheckpointError; nothing new is kept then."""
        first = self.lesson is None
        if self.lesson is None:
            lesson = Lesson("practice", (Turn("user", self._task),), "", state="needs_practice")
            self.lesson = self._journal.add_lessons([lesson])[0].id
        self._attempt.publish(Commit([self.lesson], note, snapshot=first), go_on=True)
        if first:
            self._journal.set_lesson_state(self.lesson, "learned")

    def restore(self) -> None:
        """As last published."""
        self._attempt.put_back()
