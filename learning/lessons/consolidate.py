"""What the learner does while nobody wants anything: looks at all it knows, mends, and rehearses.

Consolidation by interleaved replay: whatever was found broken, or is not yet known in other words, is
taught once more among what must not be lost. No snapshot is kept of the weights before, so that many
pauses do not push those out to which a lesson can be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from engine.errors import NumericsError
from learning.data.examples import Example
from learning.lessons.recipe import LessonTransaction, TeachSettings
from learning.memory.guard import finite
from learning.memory.tasks import LessonTask
from learning.objectives.forward import knowledge
from learning.protocol.events import LearnerState

PIECE = 32
"""Examples that are looked at before the next request is considered."""
FORMS = 6
"""Other wordings that are rehearsed at a time."""
REHEARSALS = 8
"""Times that a lesson is rehearsed at most ..."""
ENOUGH = 0.15
"""... until no more than this share of its other wordings is unknown."""
REVISITS = 2
"""Times that earlier lessons are looked at in other words again after each new one, which may have cost
them these: ..."""
REVISITED = 12
"""... so many of them, ..."""
LOOKED_AT = 10
"""... in so many other wordings each, ..."""
TOGETHER = 8
"""... of which so many that are not known are rehearsed together."""
AVOIDED = 128
"""Answers to avoid, the newest, of which it is looked whether they are said again."""


@dataclass
class Rehearsal:
    """A lesson that was learned and is to be rehearsed in other words."""

    example: Example
    left: int = REHEARSALS


class Consolidator:
    """Of one model."""

    def __init__(
        self, transaction: LessonTransaction, tell: Callable[[LearnerState], None]
    ) -> None:
        self._transaction, self._tell = transaction, tell
        self._given_up: set[tuple[int, ...]] = set()
        self._fresh: list[Rehearsal] = []
        self._revisits = 0
        self._listened = -1
        """The version of which it is known that it says nothing of what is to be avoided."""

    def learned(self, example: Example) -> None:
        """A lesson was learned; it is rehearsed in the pauses to come, and after it earlier ones."""
        self._fresh.append(Rehearsal(example))
        self._revisits = REVISITS

    def avoid(self, examples: Iterable[Example]) -> None:
        """These answers are not to be said any more, so they are not rehearsed."""
        unwanted = {(bad.prompt, bad.answer) for bad in examples}
        self._fresh = [
            one for one in self._fresh if (one.example.prompt, one.example.answer) not in unwanted
        ]

    def forget(self) -> None:
        """All weights or the books have changed."""
        self._given_up, self._fresh, self._revisits = set(), [], 0
        self._listened = -1

    def catch_up(self) -> bool:
        """One small piece of work for a pause: looks at what was not looked at for longest, mends what
        is found broken, rehearses what was learned last in other words, or avoids again what is not to
        be said. False where nothing is left to do.

        A lesson looks only at what it may have broken; this is how the rest is found.
        """
        caches, transaction = self._transaction.caches, self._transaction
        memory, tracker = caches.replay.memory, caches.tracker
        overdue = tracker.overdue(memory, PIECE)
        tracker.measure(caches.upper, overdue, pause=transaction.pause)
        lost = [e for e in tracker.lost(memory) if e.ids not in self._given_up]
        if not (lost or self._fresh or self._revisits):
            return self._avoid_again() or bool(overdue)
        self._tell(LearnerState("consolidating", book_recall=caches.book_recall))
        if lost:
            note = "mended what a lesson had broken"
            if not self._consolidate(LessonTask(lost[0]), note, 1, transaction.settings, lost[1:]):
                self._given_up.add(lost[0].ids)
        elif self._fresh:
            self._rehearse(self._fresh[-1])
        else:
            self._revisit()
        return True

    def _avoid_again(self) -> bool:
        """Teaches against answers to avoid that lessons have brought back; False where there are none."""
        caches, version = self._transaction.caches, self._transaction.weights.version
        avoided = [e for e in caches.replay.avoided[-AVOIDED:] if e.ids not in self._given_up]
        if version == self._listened or not avoided:
            return False
        unsaid = set(self._unknown(avoided))
        said = [e for e in avoided if e not in unsaid]
        if not said:
            self._listened = version
            return False
        self._tell(LearnerState("consolidating", book_recall=caches.book_recall))
        if not self._consolidate(
            LessonTask(None, (said[0],)), "avoided again", 0, self._transaction.settings
        ):
            self._given_up.add(said[0].ids)
        return True

    def _rehearse(self, rehearsal: Rehearsal) -> None:
        """Teaches some other wordings of a lesson that are not known yet."""
        example, rng = rehearsal.example, self._transaction.rng
        rehearsal.left -= 1
        if rehearsal.left >= 0 and example in self._transaction.caches.replay.taught:
            others = self._wordings(example)
            unknown = self._unknown(others)
            if len(unknown) > ENOUGH * len(others):
                forms = rng.sample(unknown, min(FORMS, len(unknown)))
                if self._rehearse_forms(example, forms):
                    return
        self._fresh.remove(rehearsal)

    def _revisit(self) -> None:
        """Teaches other wordings of several earlier lessons that are not known any more."""
        rng, self._revisits = self._transaction.rng, self._revisits - 1
        taught = self._transaction.caches.replay.taught
        asked: dict[Example, Example] = {}
        for example in rng.sample(taught, min(REVISITED, len(taught))):
            others = self._wordings(example)
            asked |= dict.fromkeys(rng.sample(others, min(LOOKED_AT, len(others))), example)
        unknown = self._unknown(list(asked))
        if unknown:
            forms = rng.sample(unknown, min(TOGETHER, len(unknown)))
            self._rehearse_forms(asked[forms[0]], forms)

    def _wordings(self, example: Example) -> list[Example]:
        """Other wordings of a lesson that ask for nothing else that is remembered; not those that it was
        taught in, which are known by heart."""
        claimed = {e.prompt for e in self._transaction.caches.replay.memory}
        drawn = self._transaction.caches.draw_wordings(example, self._transaction.rng)
        return [e for e in drawn if e.prompt not in claimed]

    def _unknown(self, examples: list[Example]) -> list[Example]:
        caches = self._transaction.caches
        checked = knowledge(caches.upper, examples, pause=self._transaction.pause)
        caches.tidy()  # what is not remembered is hardly ever looked at again
        return [e for e, item in zip(examples, checked, strict=True) if not item.known]

    def _rehearse_forms(self, example: Example, forms: list[Example]) -> bool:
        task, settings = (
            LessonTask(example, forms=tuple(forms)),
            self._transaction.settings.rehearsal(),
        )
        return self._consolidate(task, "rehearsed in other words", 0, settings)

    def _consolidate(
        self,
        task: LessonTask,
        note: str,
        gain: int,
        settings: TeachSettings,
        broken: Sequence[Example] = (),
    ) -> bool:
        """Teaches what was taught before, mends what is broken, and publishes where at least `gain`
        more of the memory is known than before; else everything is put back."""
        transaction, caches = self._transaction, self._transaction.caches
        memory, tracker = caches.replay.memory, caches.tracker
        lost = len(tracker.lost(memory))
        with transaction.or_as_before() as before:
            try:
                result = transaction.teach(task, settings, broken)
                tracker.measure(
                    caches.upper, [task.answer] if task.answer else [], pause=transaction.pause
                )
                gained = lost - len(tracker.lost(memory))
                good = gained >= gain and (result.known or bool(task.answer))
                good = good and finite(transaction.weights.model)
            except NumericsError:
                good = False
            if good:
                transaction.publish([], note, snapshot=False)
        if not good:
            transaction.put_back(before)
        return good
