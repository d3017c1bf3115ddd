"""Takes lessons, updates the weights, lets the guard judge, saves and publishes.

Synchronous: the teacher runs it in a thread. If a lesson fails, weights and margins are restored,
and the lesson stays "waiting".
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import NumericsError
from engine.storage.files import remove_leftovers
from engine.tokenizers.load import load_tokenizer
from learning.data.examples import Example, too_long
from learning.home import Home
from learning.journal.contradictions import as_changed
from learning.journal.journal import Journal
from learning.journal.lessons import MAIN_KINDS
from learning.lessons.avoid import teach_or_avoid
from learning.lessons.consolidate import REHEARSED, Consolidator
from learning.lessons.reasons import Reasons
from learning.lessons.recipe import LessonTransaction, TeachResult, TeachSettings, known_before
from learning.lessons.understanding import all_others, measure, others_before
from learning.lessons.undo import leave, missing, take_back
from learning.memory.caches import LearnerCaches
from learning.memory.margins import MarginTracker
from learning.memory.prefix_cache import LARGE
from learning.memory.replay import Replay
from learning.memory.tasks import (
    LessonTask,
    as_worded_before,
    changed_questions,
    folded_prompt,
    to_task,
    waiting_riders,
)
from learning.memory.transaction import UNPUBLISHED, AtStake, Commit
from learning.models.files import TALK
from learning.models.home_files import last_written
from learning.models.snapshots import KNOWN_ALREADY, OldWeights
from learning.models.weights import Published, Weights
from learning.protocol.events import LearnerState, Understood, UndoDone
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Lesson, LessonKind, LessonReport, LessonState, Understanding

RESUMED = 8
"""Most lessons of earlier runs of the program whose rehearsals go on."""


class Learner:
    """Teaches the master weights of one model of a home."""

    def __init__(
        self,
        home: Home,
        folder: Path,
        journal: Journal,
        *,
        device: str = "cpu",
        seed: int | None = None,
        pause: Callable[[], None] = lambda: None,
        tell: Callable[[LearnerState | Understood | ReasonGivenUp], None] = lambda _: None,
        settings: TeachSettings | None = None,
    ) -> None:
        """`pause` is called before every micro-batch and may raise Stopped."""
        self.folder, self.journal, self.settings = folder, journal, settings or TeachSettings()
        self.home, self._tell = home, tell
        self._rng = random.Random(seed)
        for part in (home.path, home.exports_path, home.models_path):
            remove_leftovers(part)
        self.tokenizer = load_tokenizer(folder)
        self.weights = Weights(folder, journal, device=device)
        frozen = self.settings.trunk_layers(self.weights.model.config)
        self.caches = LearnerCaches(home, self.weights, self.tokenizer, journal, frozen, pause)
        self.transaction = LessonTransaction(
            self.weights, self.caches, journal, self._rng, pause, settings=self.settings
        )
        self._pauses = Consolidator(self.transaction, tell)
        self.caches.on_forget(self._pauses.forget)
        self._pauses.plan_renewals(journal.learned_since(folder, last_written(folder / TALK)))
        self._reasons = Reasons(self.transaction, self.tokenizer, tell)
        self.reasons = False
        """Whether pauses carry reasons over to other messages."""
        self.weak: Collection[LessonKind] = ()
        """Kinds of weak lessons that are added to batches."""
        self._resumed = False
        """Whether the rehearsals that the last run of the program left are planned."""
        self._step_began = 0.0
        """When the step of a lesson began that is being taken; seconds of the monotonic clock."""
        self.recover()

    def recover(self) -> None:
        """Corrects the states of lessons after a crash or a change of the model: lessons that the
        weight file lacks are "waiting" again; of another model or version, lessons that it contains are
        "learned"."""
        self.journal.set_version_in_use(self.version)
        for lesson in self.journal.lessons_not_saved():
            if lesson.state == "learned":
                self.journal.set_lesson_state(lesson.id, missing(lesson))

    @property
    def version(self) -> int:
        """Of the weights that were last published."""
        return self.weights.version

    @property
    def published(self) -> Published:
        """What answers are generated from."""
        return self.weights.published

    @property
    def replay(self) -> Replay:
        return self.caches.replay

    @property
    def tracker(self) -> MarginTracker:
        return self.caches.tracker

    @property
    def book_recall(self) -> float:
        return self.caches.book_recall

    # ------------------------------------------------------------ lessons

    def learn(self, lesson: Lesson) -> LessonReport:
        """Learns one lesson and publishes, or restores the weights and marks it needs_practice."""
        started = time.monotonic()
        task = self._task(lesson)
        if why := _too_long(lesson, task):
            self.journal.set_lesson_state(lesson.id, "needs_practice")
            report = self._report(lesson, started, known=False)
            return replace(report, state="needs_practice", why=why)
        if task.answer is None and not task.rejected:
            self.journal.set_lesson_state(lesson.id, "learned")
            return self._report(lesson, started, known=True)
        knew = known_before(self.caches.upper, task)
        others = self._others(lesson, task.answers[-1]) if task.answers else []
        stake = self.transaction.at_stake(task)
        result, passed = self._attempt(lesson, task, stake)
        if not task.answers:  # learned or not: it is not replayed any more
            self.replay.avoid(task.rejected)
            self._pauses.avoid(task.rejected)
        steps, loss = result.steps, result.loss
        if not passed:
            self.journal.set_lesson_state(lesson.id, "needs_practice")
            report = self._report(lesson, started, known=knew, knew=knew, steps=steps, loss=loss)
            return replace(
                report, rolled_back=True, state="needs_practice", book_recall=stake.book_before
            )
        state: LessonState = "learned" if result.known else "needs_practice"
        self.journal.set_lesson_state(lesson.id, state)
        found = self._remember(lesson, task, others, known=result.known)
        report = self._report(
            lesson, started, known=result.known, knew=knew, steps=steps, loss=loss
        )
        changed = changed_questions(task) if result.known else ()
        return replace(
            report, batch=result.batch, state=state, understanding=found, changed=changed
        )

    def _task(self, lesson: Lesson) -> LessonTask:
        """The lesson as examples, with the wordings of its question that the memory has. One that a later
        learned lesson changes has that one's answer."""
        context, replay = self.weights.model.config.context, self.replay
        later = self.journal.lessons("learned", MAIN_KINDS, after=lesson.id)
        lesson = replace(lesson, answer=as_changed([lesson, *later])[0].answer)
        task = to_task(self.tokenizer, lesson, context, self._rng, replay.frames)
        return as_worded_before(task, replay.memory, context)

    def _attempt(
        self, lesson: Lesson, task: LessonTask, stake: AtStake
    ) -> tuple[TeachResult, bool]:
        """Takes steps on the task and on weak lessons that wait, and publishes if the guard lets the result
        pass. Returns what the steps came to, and whether it was published; a loss that is not finite counts
        as no steps."""
        replay = self.replay
        context = self.weights.model.config.context
        self._step_began = time.monotonic()
        riders = waiting_riders(self.tokenizer, self.journal, context, self.weak, replay.memory)
        replay.riders = list(riders.values())

        def steps_taken() -> TeachResult:
            return teach_or_avoid(
                self.transaction,
                self.tokenizer,
                task,
                report=lambda _, loss: self._stepped(lesson, loss),
                checking=lambda: self._tell(LearnerState("checking", self.journal.waiting_count())),
            )

        def ridden(result: TeachResult) -> list[int]:
            return [n for n, (example, _) in riders.items() if example in result.ridden]

        def judge(result: TeachResult) -> Commit | None:
            if not stake.judged(self.weights.model).passed:
                return None
            return self._commit(lesson, result.steps, ridden(result))

        try:
            outcome = self.transaction.attempt(steps_taken, judge)
        except NumericsError:
            return TeachResult(0, float("nan"), False, 0), False
        finally:
            replay.riders = []
        if outcome.kept:
            for number in ridden(outcome.result):
                self.journal.set_lesson_state(number, "learned")
        return outcome.result, outcome.kept

    def _others(self, lesson: Lesson, example: Example) -> list[str]:
        """Questions that should not get the lesson's answer. If the lesson was learned before, these weights
        may give it to them already; then none is left out."""
        if any(state == "learned" for state, _ in self.journal.lesson_events(lesson.id)):
            return all_others(example)
        return others_before(self.transaction, example)

    def _remember(
        self, lesson: Lesson, task: LessonTask, others: Sequence[str], *, known: bool
    ) -> Understanding:
        """Takes a published lesson into the memory, and journals the recall of book and lessons, and how well
        a known one was understood. others: see `understanding`."""
        replay = self.replay
        for example in (*task.remembered, *task.answers):
            replay.remember(example, task.variations)
        main = task.answers[-1] if task.answers and known else None
        if main:
            self._pauses.learned(main, lesson.id, others)
            self._pauses.plan_renewals()
        tracker = self.tracker  # it looks at what the memory has now
        # the owner's book may have had it already, so that it was looked at before it was learned
        tracker.measure(self.caches.upper, task.answers)
        name = self.folder.name
        self.journal.add_measure("book_recall", tracker.recall(replay.book), name)
        self.journal.add_measure("lessons_known", tracker.recall(replay.taught), name)
        self.caches.tidy()
        return measure(self.transaction, lesson.id, main, others)

    def _commit(self, lesson: Lesson, steps: int, riders: list[int]) -> Commit:
        """riders: weak lessons that were learned along with it."""
        if not steps and lesson.id in self.journal.lessons_in(self.version):
            return UNPUBLISHED
        note = f"lesson {lesson.id}{'' if steps else KNOWN_ALREADY}"
        return Commit([lesson.id, *riders], note, moved=steps > 0)

    def catch_up(self) -> bool:
        """Does one small piece of work in a pause (learning.lessons.consolidate, then reasons). Returns
        False if nothing is left to do."""
        if not self._resumed:
            self._resumed = True
            self._plan_rehearsals()
        return self._pauses.catch_up() or (self.reasons and self.carry_over())

    def _plan_rehearsals(self) -> None:
        """Plans the rehearsals of the newest lessons that no pause came to before the program ended last."""
        left = self.journal.lessons_since(self.version, REHEARSED)[-RESUMED:]
        for lesson in map(self.journal.lesson, left):
            known = lesson.state == "learned" and lesson.kind in MAIN_KINDS
            if known and (answers := self._task(lesson).answers):
                others = self._others(lesson, answers[-1])
                self._pauses.learned(answers[-1], lesson.id, others)

    def carry_over(self) -> bool:
        """Does one small piece of work on the owner's reasons. Returns False if nothing is left to do."""
        return self._reasons.catch_up()

    def _stepped(self, lesson: Lesson, loss: float) -> None:
        """Records and tells a step that has been taken."""
        now = time.monotonic()
        seconds, self._step_began = now - self._step_began, now
        batch, model = self.settings.mixture.batch, self.folder.name
        self.journal.add_step([lesson.id], loss, batch, seconds, lesson.kind, model)
        recall = self.tracker.recall(self.replay.book)
        self._tell(LearnerState("learning", self.journal.waiting_count(), loss, recall))

    def _report(
        self,
        lesson: Lesson,
        started: float,
        *,
        known: bool,
        knew: bool = False,
        steps: int = 0,
        loss: float = 0.0,
    ) -> LessonReport:
        return LessonReport(
            lesson=lesson.id,
            kind=lesson.kind,
            known_before=knew,
            known_after=known,
            steps=steps,
            batch=0,
            loss=loss,
            book_recall=self.book_recall,
            seconds=time.monotonic() - started,
            rolled_back=False,
            version=self.version,
        )

    def rest(self) -> None:
        """Frees the memory that a large model needs only while it learns."""
        if self.published.model.config.parameters > LARGE:
            self.weights.rest()

    def forget_memory(self) -> None:
        """Drops all caches, because all weights or the books have changed; they are computed again when
        needed."""
        self.caches.forget()

    # ------------------------------------------------------------ undo

    def undo(self, lesson: Lesson) -> tuple[UndoDone, list[Lesson]]:
        """Takes a lesson out: back to the newest saved weights without it or, where none are left,
        taught against (learning.lessons.undo).

        Returns what to say and the other lessons that those weights lack, which wait again (a
        practice that is lost is only told). For the last lesson that is exactly the weights before
        it.
        """
        try:
            done, lost = take_back(self.transaction, self.tokenizer, lesson)
        finally:
            self.forget_memory()
        self._pauses.drop({lesson.id})
        if lesson.id in self.journal.taught_against(self.version):
            question = folded_prompt(lesson)
            for example in (e for e in self.replay.taught if e.prompt == question):
                self._pauses.learned(example)  # what is said in its place, in other words too
        return done, lost

    def leave(self, lessons: Collection[int], to: OldWeights) -> None:
        """Removes lessons that are to be forgotten by restoring weights without them. Never trains
        against them."""
        leave(self.weights, self.journal, lessons, to)
        self._pauses.drop(lessons)
        for lesson in lessons:
            self.journal.set_lesson_state(lesson, "undone")
        self.forget_memory()


def _too_long(lesson: Lesson, task: LessonTask) -> str:
    """Why the model's context cannot hold the lesson; empty if it can."""
    if lesson.blame and not task.rejected:
        return "the answer is too long for this model, which does not get to the blamed words"
    return too_long(task.answer) if task.answer else ""
