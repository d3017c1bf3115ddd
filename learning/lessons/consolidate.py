"""Consolidation in pauses: measures the memory, repairs what is broken, rehearses lessons in other words.

By interleaved replay: an example that was found broken, or a lesson that is not yet known in other
words, is taught again among the memory. No snapshot is kept of the weights before, so that many pauses
do not push out the snapshots that an undo needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from engine.errors import NumericsError
from learning.data.examples import Example, gives
from learning.lessons.recipe import LessonTransaction, TeachResult, TeachSettings
from learning.lessons.understanding import understanding
from learning.memory.guard import finite
from learning.memory.tasks import LessonTask
from learning.memory.transaction import Commit
from learning.objectives.forward import knowledge
from learning.protocol.events import LearnerState, Understood

PIECE = 32
"""Examples measured in one piece of work; requests are considered in between."""
FORMS = 6
"""Wordings of one lesson that are rehearsed together."""
REHEARSALS = 8
"""Most rehearsals of one lesson."""
ENOUGH = 0.15
"""Rehearsals of a lesson end when at most this share of its wordings is unknown."""
REVISITS = 2
"""Times that earlier lessons are revisited after each new one, which may have damaged their wordings."""
REVISITED = 12
"""Earlier lessons in one revisit."""
LOOKED_AT = 10
"""Wordings measured of each revisited lesson."""
TOGETHER = 8
"""Unknown wordings that a revisit rehearses together."""
AVOIDED = 128
"""The newest answers to avoid that pauses check."""


@dataclass
class Rehearsal:
    """A learned lesson that is rehearsed in other words."""

    example: Example
    lesson: int | None = None
    """Its number in the journal; None: an answer that took the place of an undone one."""
    left: int = REHEARSALS
    done: int = 0
    """Rehearsals that were published."""


class Consolidator:
    """The work of one model's pauses."""

    def __init__(
        self, transaction: LessonTransaction, tell: Callable[[LearnerState | Understood], None]
    ) -> None:
        self._transaction, self._tell = transaction, tell
        self._given_up: set[tuple[int, ...]] = set()
        self._fresh: list[Rehearsal] = []
        self._revisits = 0
        self._listened = -1
        """Version that was checked and gives none of the answers to avoid."""

    def learned(self, example: Example, lesson: int | None = None) -> None:
        """Plans rehearsals of a learned lesson, then of earlier ones. lesson: its number in the journal."""
        self._fresh.append(Rehearsal(example, lesson))
        self._revisits = REVISITS

    def avoid(self, examples: Iterable[Example]) -> None:
        """Stops rehearsing answers that are now to be avoided."""
        bad = list(examples)
        self._fresh = [x for x in self._fresh if not any(gives(x.example, one) for one in bad)]

    def forget(self) -> None:
        """Drops all plans, because all weights or the books have changed."""
        self._given_up, self._fresh, self._revisits = set(), [], 0
        self._listened = -1

    def catch_up(self) -> bool:
        """Does one small piece of work: measures the stalest examples, repairs broken ones, rehearses the
        latest lesson in other words, or avoids again an answer that came back. Returns False when nothing
        is left to do.

        A lesson measures only what it is likely to have broken; pauses find the rest.
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
        """Teaches against an answer to avoid that came back. Returns False if none did."""
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
        """Teaches some wordings of a lesson that are not known yet; at the end tells in how many unseen ones
        it is known."""
        example, rng = rehearsal.example, self._transaction.rng
        rehearsal.left -= 1
        if rehearsal.left >= 0 and example in self._transaction.caches.replay.taught:
            others = self._wordings(example)
            unknown = self._unknown(others)
            if len(unknown) > ENOUGH * len(others):
                forms = rng.sample(unknown, min(FORMS, len(unknown)))
                if self._rehearse_forms(example, forms):
                    rehearsal.done += 1
                    return
        self._fresh.remove(rehearsal)
        if rehearsal.lesson is not None and rehearsal.done:
            ways = understanding(self._transaction.caches, example, self._transaction.pause)
            if ways.asked:
                self._tell(Understood(rehearsal.lesson, ways.known, ways.asked))

    def _revisit(self) -> None:
        """Teaches wordings of earlier lessons that are no longer known."""
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
        """Newly drawn wordings of a lesson that are no other example's prompt. (The wordings it was taught in
        are known by heart and say nothing.)"""
        claimed = {e.prompt for e in self._transaction.caches.replay.memory}
        drawn = self._transaction.caches.draw_wordings(example, self._transaction.rng)
        return [e for e in drawn if e.prompt not in claimed]

    def _unknown(self, examples: list[Example]) -> list[Example]:
        caches = self._transaction.caches
        checked = knowledge(caches.upper, examples, pause=self._transaction.pause)
        caches.tidy()  # wordings are hardly ever measured twice
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
        """Teaches a task and repairs what is broken. Publishes if at least `gain` more examples of the memory
        are known than before, otherwise puts everything back. Returns whether it published."""
        transaction, caches = self._transaction, self._transaction.caches
        memory, tracker = caches.replay.memory, caches.tracker
        lost = len(tracker.lost(memory))

        def steps() -> TeachResult:
            result = transaction.teach(task, settings, broken)
            answers = [task.answer] if task.answer else []
            tracker.measure(caches.upper, answers, pause=transaction.pause)
            return result

        def judge(result: TeachResult) -> Commit | None:
            gained = lost - len(tracker.lost(memory))
            good = gained >= gain and (result.known or bool(task.answer))
            good = good and finite(transaction.weights.model)
            return Commit(note=note, snapshot=False) if good else None

        try:
            return transaction.attempt(steps, judge).kept
        except NumericsError:
            return False
