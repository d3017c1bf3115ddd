"""One training on a book as a transaction: plan, train, judge, publish or put back.

Left out: the steps (learning.book_training.loop) and what they are taken on
(learning.book_training.training_set).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from engine.lora import attach
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.asking import EpochReport
from learning.book_training.loop import BookSettings, train_book
from learning.book_training.moved import AdapterPlan, AdapterWeights, AllWeights, Moved
from learning.book_training.resume import TrainingKeeper
from learning.book_training.training_set import Course, failed_avoidance
from learning.book_training.training_set import plan as plan_course
from learning.data.examples import Example
from learning.memory.book_rows import book_examples
from learning.memory.guard import examine
from learning.memory.transaction import WeightTransaction
from learning.models.unfinished_training import Unfinished
from learning.objectives.forward import Knowledge, share_known
from learning.protocol.events import TrainDone
from learning.protocol.records import LessonState
from personality.book import everyday_path


class BookTrainer:
    """Trains one model of a home on books."""

    def __init__(
        self, transaction: WeightTransaction, tokenizer: Tokenizer, book_path: Path
    ) -> None:
        """book_path: the owner's book."""
        self._transaction, self._tokenizer = transaction, tokenizer
        self._journal, self._book_path = transaction.journal, book_path

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
    ) -> TrainDone:
        """Trains on a book until it is known, judges, and publishes or puts the weights back.

        book: None for the shipped book, the owner's, and all lessons; after that, answers that could not
        be avoided wait to be taught again. kept: an interrupted training to continue, or a new one; while
        it runs it is kept beside the model, so that an interruption loses little. plan: trains adapters,
        which are then added to the weights; None: all weights. Raises DataError for a book with bad lines,
        unless `skip_bad`; nothing has changed then.
        """
        started, model = time.monotonic(), self._transaction.weights.model
        replay = self._transaction.caches.read_books_again(
            skip_bad
        )  # the owner's book may have grown
        course = plan_course(
            self._tokenizer,
            replay,
            self._journal,
            self._book_path,
            book,
            model.config.context,
            self._transaction.rng,
            skip_bad,
        )
        count, manner = len(course.examples), list[Example]()
        moved: Moved = AllWeights(model)
        if plan:
            manner = book_examples(self._tokenizer, [everyday_path()], model.config.context)
            again = (*course.examples, *course.rest, *course.otherwise, *manner, *replay.talk)
            drawn = torch.Generator().manual_seed(self._transaction.rng.getrandbits(32))
            adapters = attach(model, plan.settings, drawn)
            moved = AdapterWeights(adapters, again)
        keeper, goes_on = TrainingKeeper(self._transaction.weights, moved, course, kept), False
        closing = contextlib.closing(moved)
        with keeper, self._transaction.or_as_before() as before, closing, keeper.stopping():
            training = train_book(
                moved,
                course.examples,
                replay.talk,
                settings,
                self._transaction.rng,
                rest=course.rest,
                careless=course.otherwise,
                manner=manner,
                report=keeper.hearing(report),
                pause=self._transaction.pause,
                stop=stop,
                begun=keeper.begun(self._journal),
            )
            asked = bool(training.before)  # otherwise it was stopped before that
            recall_before = share_known(training.before[:count]) if asked else None
            after = training.after
            if plan and training.last.step and math.isfinite(training.last.loss):
                lines = [*course.examples, *course.rest]
                after = moved.settle(lines, after, self._transaction.pause)
            recall = share_known(after[:count]) if asked else None
            verdict = examine(
                model,
                book_before=recall_before or 0.0,
                book_recall=recall or 0.0,
                earlier=len(course.rest),
                earlier_before=share_known(training.before[count:]),
                earlier_recall=share_known(after[count:]),
            )
            last = training.last
            if verdict.passed and last.step:
                if plan and plan.folder:
                    adapters.save(plan.folder, base=self._transaction.weights.folder.name)
                self._publish(course, after[:count])
            elif goes_on := stop() and keeper.has_steps:
                keeper.leave()
        if not (verdict.passed and last.step):
            self._transaction.put_back(before)
            recall = recall_before
        if verdict.passed and asked and not book:  # other weights may learn what these could not
            context = model.config.context
            for lesson in failed_avoidance(self._tokenizer, self._journal, context):
                self._journal.set_lesson_state(lesson.id, "waiting")
        self._transaction.caches.forget()
        if not book and recall is not None:  # of another book it says nothing of Vidya's own
            self._journal.add_measure("book_recall", recall)
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
            known=sum(item.known for item in after[:count]),
            left_out=tuple(course.left_out),
            own=book is not None,
            goes_on=goes_on,
        )

    def _publish(self, course: Course, after: Sequence[Knowledge]) -> None:
        """after: what is known of the examples of the course."""
        self._transaction.weights.publish(
            [lesson.id for lesson, _ in course.lessons], "book training"
        )
        known = {e.ids: item.known for e, item in zip(course.examples, after, strict=True)}
        for lesson, example in course.lessons:
            state: LessonState = "learned" if known[example.ids] else "needs_practice"
            if lesson.state != state:
                self._journal.set_lesson_state(lesson.id, state)
        if course.lessons:
            share = sum(known[example.ids] for _, example in course.lessons) / len(course.lessons)
            self._journal.add_measure("lessons_known", share)
