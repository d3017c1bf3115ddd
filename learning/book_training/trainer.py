"""One training on a book as a transaction: plan, train, judge, then publish or roll back.

Left out: the training steps (learning.book_training.loop) and the choice of examples
(learning.book_training.training_set).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from engine.lora import attach
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.asking import EpochReport
from learning.book_training.loop import BookSettings, BookTraining, train_book
from learning.book_training.manner import OF_ADAPTER, OF_ALL_WEIGHTS, Manner, manner
from learning.book_training.moved import AdapterPlan, AdapterWeights, AllWeights, Moved
from learning.book_training.resume import TrainingKeeper
from learning.book_training.training_set import Course, failed_avoidance
from learning.book_training.training_set import plan as plan_course
from learning.data.examples import Example
from learning.memory.guard import Verdict, examine
from learning.memory.rewording import owner_turns
from learning.memory.transaction import Commit, WeightTransaction
from learning.models.unfinished_training import Unfinished
from learning.objectives.forward import Knowledge, share_known
from learning.protocol.events import TrainDone
from learning.protocol.records import LessonState
from learning.text.normalise import fold


class BookTrainer:
    """Trains one model of a home on books."""

    def __init__(self, transaction: WeightTransaction, tokenizer: Tokenizer) -> None:
        self._transaction, self._tokenizer = transaction, tokenizer
        self._journal, self._model = transaction.journal, transaction.weights.folder.name

    def train(
        self,
        book: Path | None,
        settings: BookSettings,
        report: Callable[[EpochReport], None],
        stop: Callable[[], bool],
        *,
        skip_bad: bool = False,
        kept: Unfinished | None = None,
        plan: AdapterPlan | None = None,
        own_talk: Path | None = None,
    ) -> TrainDone:
        """Trains on a book until it is known, then publishes the weights if the guard passes, else rolls
        them back.

        book: None for the shipped book, the owner's, and all lessons; afterwards, lessons to avoid an
        answer that had failed wait to be taught again. kept: the interrupted training to resume, or a new
        record; the running training is saved beside the model. plan: train low-rank adapters and add them
        to the weights; None: train all weights. own_talk: conversations in the model's own words (see
        `manner`); None: it makes talk up. Raises DataError for a book with bad lines unless `skip_bad`, and
        changes nothing then.
        """
        started, model = time.monotonic(), self._transaction.weights.model
        replay = self._transaction.caches.read_books_again(
            skip_bad
        )  # the owner's book may have grown
        course = plan_course(
            self._tokenizer,
            replay,
            self._journal,
            self._transaction.caches.book_rows,
            book,
            model.config.context,
            self._transaction.rng,
            skip_bad,
        )
        count, context = len(course.examples), model.config.context
        lines, shown = [*course.examples, *course.rest], Manner([], [])
        if plan or own_talk:
            of = OF_ADAPTER if plan else OF_ALL_WEIGHTS
            shown = manner(self._tokenizer, own_talk, context, self._transaction.rng, of)
        moved: Moved = AllWeights(model)
        if plan:
            again = (*lines, *course.otherwise, *shown.rows, *replay.talk)
            drawn = torch.Generator().manual_seed(self._transaction.rng.getrandbits(32))
            moved = AdapterWeights(attach(model, plan.settings, drawn), again)
        talk = shown.own
        if not (plan and shown.own):
            talk = [*_agreeing(self._tokenizer, replay.talk, course.examples), *shown.own]
        keeper, goes_on = TrainingKeeper(self._transaction.weights, moved, course, kept), False
        verdict = Verdict(False, 0.0, 0.0)

        def steps() -> BookTraining:
            with keeper.stopping():
                training = train_book(
                    moved,
                    course.examples,
                    talk,
                    settings,
                    self._transaction.rng,
                    rest=course.rest,
                    careless=course.otherwise,
                    manner=shown.rows,
                    report=keeper.hearing(report),
                    pause=self._transaction.pause,
                    stop=stop,
                    begun=keeper.begun(self._journal),
                )
                if training.last.step and math.isfinite(training.last.loss):
                    known = moved.settle(lines, training.after, self._transaction.pause)
                    training = replace(training, after=known)
                return training

        def judge(training: BookTraining) -> Commit | None:
            nonlocal verdict
            verdict = examine(
                model,
                book_before=share_known(training.before[:count]) if training.before else 0.0,
                book_recall=share_known(training.after[:count]) if training.before else 0.0,
                earlier=len(course.rest),
                earlier_before=share_known(training.before[count:]),
                earlier_recall=share_known(training.after[count:]),
            )
            if verdict.passed and training.last.step:
                return Commit([lesson.id for lesson, _ in course.lessons], "book training")
            return None

        with keeper, contextlib.closing(moved):
            outcome = self._transaction.attempt(steps, judge, moved.trainable)
            if outcome.kept:
                if plan and plan.folder and isinstance(moved, AdapterWeights):
                    moved.adapters.save(plan.folder, base=self._model)
                self._published(course, outcome.result.after[:count])
            elif goes_on := stop() and keeper.has_steps:
                keeper.leave()
        training = outcome.result
        asked = bool(training.before)  # False: stopped during the first measurement
        last = training.last
        recall_before = share_known(training.before[:count]) if asked else None
        recall = share_known(training.after[:count]) if outcome.kept else recall_before
        if verdict.passed and asked and not book:
            # the new weights may learn what the old could not
            context = model.config.context
            for lesson in failed_avoidance(self._tokenizer, self._journal, context):
                self._journal.set_lesson_state(lesson.id, "waiting")
        self._transaction.caches.forget()
        if not book and recall is not None:  # recall of another book says nothing about Vidya's own
            self._journal.add_measure("book_recall", recall, self._model)
        return TrainDone(
            epochs=last.epoch,
            steps=last.step,
            loss=last.loss,
            recall_before=recall_before,
            recall_after=recall,
            seconds=time.monotonic() - started,
            cancelled=stop(),
            rolled_back=not verdict.passed,
            version=self._transaction.weights.version,
            entries=count,
            known=sum(item.known for item in training.after[:count]),
            left_out=tuple(course.left_out),
            own=book is not None,
            goes_on=goes_on,
        )

    def _published(self, course: Course, after: Sequence[Knowledge]) -> None:
        """Updates the lessons' states. after: knowledge of course.examples."""
        known = {e.ids: item.known for e, item in zip(course.examples, after, strict=True)}
        for lesson, example in course.lessons:
            state: LessonState = "learned" if known[example.ids] else "needs_practice"
            if lesson.state != state:
                self._journal.set_lesson_state(lesson.id, state)
        if course.lessons:
            share = sum(known[example.ids] for _, example in course.lessons) / len(course.lessons)
            self._journal.add_measure("lessons_known", share, self._model)


def _agreeing(
    tokenizer: Tokenizer, talk: Sequence[Example], lines: Sequence[Example]
) -> list[Example]:
    """The rows of talk without a question of the lines. In a row with such a question the anchor would hold
    the model to its old answer."""
    asked = {line.prompt for line in lines}
    return [
        row for row in talk if not any(fold(turn) in asked for turn in owner_turns(tokenizer, row))
    ]
