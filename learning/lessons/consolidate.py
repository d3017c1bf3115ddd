"""Consolidation while the owner pauses: measures the memory, repairs broken examples, and rehearses lessons
in other words.

It uses interleaved replay: a broken example, or a lesson that is not yet known in other words, is trained
again together with remembered examples. It saves no snapshots, because many pauses would push out the
snapshots that an undo needs. It also draws some of the own talk anew: what the anchor uses for long the model
learns by heart, and drifts on all other talk (benchmarks/results/own_talk.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from engine.errors import NumericsError
from learning.data.examples import Example, gives
from learning.lessons.recipe import LessonTransaction, TeachResult, TeachSettings
from learning.lessons.understanding import measure
from learning.memory.guard import finite
from learning.memory.tasks import LessonTask
from learning.memory.transaction import Commit
from learning.objectives.forward import knowledge
from learning.protocol.events import LearnerState, Understood

PIECE = 32
"""Most examples measured in one piece of work; requests are handled between pieces."""
FORMS = 6
"""Most wordings of one lesson that are rehearsed together."""
LOOK = 16
"""Most wordings measured at once, until enough unknown ones are found."""
REHEARSALS = 8
"""Most rehearsals of one lesson."""
ENOUGH = 0.15
"""Largest share of a lesson's wordings that may be unknown when its rehearsals end; from 0 to 1."""
REVISITS = 2
"""Number of revisits of earlier lessons after each new lesson, which may have damaged their wordings."""
REVISITED = 12
"""Most earlier lessons in one revisit."""
LOOKED_AT = 10
"""Most wordings measured for each revisited lesson."""
TOGETHER = 8
"""Most unknown wordings that a revisit rehearses together."""
RENEWALS = 32
"""Most renewals of own talk that wait for a pause. At 10M so many draw as many rows as there are."""
REHEARSED = "rehearsed in other words"
"""Note of what is published after a rehearsal or a revisit."""
AVOIDED = 128
"""Number of the newest rejected answers that are checked in pauses."""


@dataclass
class Rehearsal:
    """A learned lesson that is to be rehearsed in other words."""

    example: Example
    lesson: int | None = None
    """Its number in the journal; None for an answer that replaced an undone one."""
    left: int = REHEARSALS
    """Rehearsals that may still be tried."""
    done: int = 0
    """Rehearsals whose weights were published."""
    others: Sequence[str] = ()
    """Questions that should not get its answer (learning.lessons.understanding)."""


class Consolidator:
    """Does the work of one model's pauses. tell: receives the learner's state, and how well a lesson is
    understood."""

    def __init__(
        self, transaction: LessonTransaction, tell: Callable[[LearnerState | Understood], None]
    ) -> None:
        self._transaction, self._tell = transaction, tell
        self._given_up: set[tuple[int, ...]] = set()
        self._fresh: list[Rehearsal] = []
        self._revisits = 0
        self._renewals = 0
        self._listened = -1
        """Version of the weights that was checked and gives no rejected answer."""

    def learned(
        self, example: Example, lesson: int | None = None, others: Sequence[str] = ()
    ) -> None:
        """Plans rehearsals of a learned lesson, and then revisits of earlier ones. lesson: its number in the
        journal; what was planned of it before is dropped. others: see Rehearsal."""
        self._fresh = [x for x in self._fresh if lesson is None or x.lesson != lesson]
        self._fresh.append(Rehearsal(example, lesson, others=others))
        self._revisits = REVISITS

    def plan_renewals(self, times: int = 1) -> None:
        """Plans renewals of own talk for the next pauses, one for each newly learned lesson."""
        self._renewals = min(self._renewals + times, RENEWALS)

    def avoid(self, examples: Iterable[Example]) -> None:
        """Cancels rehearsals of these answers, which are now rejected."""
        bad = list(examples)
        self._fresh = [x for x in self._fresh if not any(gives(x.example, one) for one in bad)]

    def drop(self, lessons: Collection[int]) -> None:
        """Cancels the rehearsals of lessons that were taken out, given by their numbers in the journal."""
        self._fresh = [x for x in self._fresh if x.lesson not in lessons]

    def forget(self) -> None:
        """Drops what was found out about the weights; call it after all weights or the books have changed.
        Planned rehearsals stay."""
        self._given_up, self._listened = set(), -1

    def catch_up(self) -> bool:
        """Does one small piece of work: measures the examples with the oldest measurements, then repairs
        broken ones, or rehearses the latest lesson in other words, or renews own talk, or trains against a
        rejected answer that came back. Returns False when nothing is left to do.

        A lesson measures only the examples that it is likely to have broken; this finds the others.
        """
        caches, transaction = self._transaction.caches, self._transaction
        memory, tracker = caches.replay.memory, caches.tracker
        overdue = tracker.overdue(memory, PIECE)
        tracker.measure(caches.upper, overdue, pause=transaction.pause)
        lost = [e for e in tracker.lost(memory) if e.ids not in self._given_up]
        if not (lost or self._fresh or self._revisits or self._renewals):
            return self._avoid_again() or bool(overdue)
        self._tell(LearnerState("consolidating", book_recall=caches.book_recall))
        if lost:
            note = "mended what a lesson had broken"
            if not self._consolidate(LessonTask(lost[0]), note, 1, transaction.settings, lost[1:]):
                self._given_up.add(lost[0].ids)
        elif self._fresh:
            self._rehearse(self._fresh[-1])
        elif self._revisits:
            self._revisit()
        else:
            self._renewals -= 1
            caches.renew_talk(transaction.rng)
        caches.tidy()  # hardly any wording comes again
        return True

    def _avoid_again(self) -> bool:
        """Trains against a rejected answer that the model gives again. Returns False if there is none."""
        caches, version = self._transaction.caches, self._transaction.weights.version
        avoided = [e for e in caches.replay.avoided[-AVOIDED:] if e.ids not in self._given_up]
        if version == self._listened or not avoided:
            return False
        unsaid = set(self._unknown(avoided))
        caches.tidy()
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
        """Trains some wordings of a lesson that are not known yet. After the last rehearsal it reports in how
        many wordings that were never trained the lesson is known, and which other questions get its answer.
        """
        example, rng = rehearsal.example, self._transaction.rng
        rehearsal.left -= 1
        if rehearsal.left >= 0 and example in self._transaction.caches.replay.taught:
            others = self._wordings(example)
            enough = ENOUGH * len(others)
            unknown = self._some_unknown(others, max(FORMS, math.floor(enough) + 1))
            if len(unknown) > enough:
                forms = rng.sample(unknown, min(FORMS, len(unknown)))
                if self._rehearse_forms(example, forms):
                    rehearsal.done += 1
                    return
        self._fresh.remove(rehearsal)
        if rehearsal.lesson is not None and rehearsal.done:
            lesson = rehearsal.lesson
            found = measure(self._transaction, lesson, example, rehearsal.others)
            if found.ways_asked or found.neighbours_leaked:
                self._tell(Understood(lesson, found))

    def _revisit(self) -> None:
        """Trains wordings of random earlier lessons that are not known any more."""
        rng, self._revisits = self._transaction.rng, self._revisits - 1
        taught = self._transaction.caches.replay.taught
        asked: dict[Example, Example] = {}
        for example in rng.sample(taught, min(REVISITED, len(taught))):
            others = self._wordings(example)
            asked |= dict.fromkeys(rng.sample(others, min(LOOKED_AT, len(others))), example)
        unknown = self._some_unknown(list(asked), TOGETHER)
        if unknown:
            forms = rng.sample(unknown, min(TOGETHER, len(unknown)))
            self._rehearse_forms(asked[forms[0]], forms)

    def _wordings(self, example: Example) -> list[Example]:
        """Newly drawn wordings of a lesson that are not a remembered example's prompt. The wordings that it
        was trained on are known by heart, so measuring them would show nothing."""
        claimed = {e.prompt for e in self._transaction.caches.replay.memory}
        drawn = self._transaction.caches.draw_wordings(example, self._transaction.rng)
        return [e for e in drawn if e.prompt not in claimed]

    def _some_unknown(self, examples: list[Example], count: int) -> list[Example]:
        """Measures examples in random order until `count` that are not known are found, or all are measured.
        So those found are drawn at random from all that are not known."""
        order, found = self._transaction.rng.sample(examples, len(examples)), list[Example]()
        for start in range(0, len(order), LOOK):
            if len(found) >= count:
                break
            found += self._unknown(order[start : start + LOOK])
        return found

    def _unknown(self, examples: list[Example]) -> list[Example]:
        checked = knowledge(self._transaction.caches.upper, examples, pause=self._transaction.pause)
        return [e for e, item in zip(examples, checked, strict=True) if not item.known]

    def _rehearse_forms(self, example: Example, forms: list[Example]) -> bool:
        task, settings = (
            LessonTask(example, forms=tuple(forms)),
            self._transaction.settings.rehearsal(),
        )
        return self._consolidate(task, REHEARSED, 0, settings)

    def _consolidate(
        self,
        task: LessonTask,
        note: str,
        gain: int,
        settings: TeachSettings,
        broken: Sequence[Example] = (),
    ) -> bool:
        """Teaches a task and repairs broken examples. Publishes the weights if at least `gain` more
        remembered examples are known than before; otherwise restores weights and caches. Returns whether it
        published."""
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
