"""Carries out a request to practise: sets up task, trainer and run, writes the journal, emits events.

Left out: threads and priorities (learning.teacher.teacher).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.journal.practices import (
    add_practice_step,
    begin_practice,
    end_practice,
    practice_entry,
)
from learning.memory.save_points import LessonSavePoints
from learning.memory.transaction import WeightTransaction
from learning.practice.background import BackgroundScorer
from learning.practice.critic import keep_value, kept_value
from learning.practice.figures import StepReport
from learning.practice.hooks import interruptible
from learning.practice.options import changed_values, named_values
from learning.practice.record import (
    PracticeRecord,
    data_mark,
    differences,
    machine,
    versions,
    weights_mark,
)
from learning.practice.report import measure_name
from learning.practice.requested import difficulty, practice_settings
from learning.practice.run import Evaluation, Interrupted, PracticeOutcome, PracticeRun
from learning.practice.settings import PracticeSettings
from learning.practice.tags import name_tags
from learning.practice.trained import AddedSavePoints, trained_weights
from learning.practice.trainer import GrpoTrainer
from learning.practice.warm_up import WarmUpReport
from learning.practice.yardstick import open_yardstick
from learning.protocol.events import (
    Event,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import Practise
from learning.rewards.registry import find_task
from learning.rewards.task import Task, TaskOptions


class PracticeJob:
    """One request. Lessons may interrupt it, so it may run in several parts."""

    def __init__(
        self,
        transaction: WeightTransaction,
        tokenizer: Tokenizer,
        journal: Journal,
        request: Practise,
        *,
        pause: Callable[[], None],
        emit: Callable[[Event], None],
        renamed: Callable[[Tokenizer], None] = lambda _: None,
        settings: PracticeSettings | None = None,
        find: Callable[[str, TaskOptions], Task] = find_task,
    ) -> None:
        """renamed: called with the tokenizer of a model that has learned the tags of answers. Raises NotFound
        for an unknown task, ConfigError for settings or data that it cannot use."""
        self._transaction, self._tokenizer = transaction, tokenizer
        self._journal, self._request = journal, request
        self._pause, self._emit, self._renamed = pause, emit, renamed
        self.settings = practice_settings(settings or PracticeSettings(), request)
        small = transaction.weights.model.config.parameters < self.settings.field_below
        options = TaskOptions(
            data=Path(request.data) if request.data else None,
            difficulty=difficulty(request.settings),
            needs_field=small,
        )
        task = find(request.task, options)
        self._task: Task = BackgroundScorer(task, pause) if request.idle else task
        self.seed = time.time_ns() % 2**31 if request.seed is None else request.seed
        """By default a new seed each time, so that the problems differ."""
        self._run: int | None = None
        """Journal id of the run, once it has begun."""
        self._done = PracticeOutcome()
        self._parts = 0
        self._saved: int | None = None
        """Journal id of the lesson under which the newest part was saved; None if it was not."""
        self._warm = False
        self._held_out = 0
        self._before: tuple[float | None, float | None] = (None, None)
        """Accuracy and book recall before the newest part."""
        self._accuracy: float | None = None
        self._recall: float | None = None

    @property
    def left(self) -> int:
        """Number of steps still to take."""
        return self.settings.steps - self._done.steps

    def close(self) -> None:
        """Closes the task."""
        self._task.close()

    def practise(self, stop: Callable[[], bool]) -> PracticeOutcome:
        """Practises until the run ends or `stop()` is true. May be called again for the steps left.

        Returns the outcome of all parts so far. Raises VidyaError; the weights are then those published
        last.
        """
        transaction, request = self._transaction, self._request
        model = transaction.weights.model
        transaction.caches.forget()  # practice trains the lower blocks too
        seed = self.seed + 1000 * self._parts
        trained = trained_weights(model, self.settings.adapter, seed)
        self._begin()
        self._saved, published = None, transaction.weights
        value = None
        if self.settings.critic.answers:
            value = kept_value(published.folder, published.version, self._practised)
        outcome = PracticeOutcome("stopped", "interrupted before anything was measured")
        session: GrpoTrainer | None = None
        weights: LessonSavePoints | None = None

        def name() -> None:
            if session is not None and session.taught_tags:
                self._tokenizer = name_tags(self._tokenizer, published.folder)
                self._renamed(self._tokenizer)

        def pause() -> None:
            self._pause()
            if (session is None or not session.updates) and stop():
                raise Interrupted  # before the first update there is nothing to lose

        try:
            with (
                suppress(Interrupted),
                interruptible(model, self._pause) if request.idle else nullcontext(),
                transaction.begin(trained.trainable) as attempt,
                trained,
            ):
                weights = LessonSavePoints(attempt, self._journal, request.task, before=name)
                session = GrpoTrainer(
                    model,
                    self._tokenizer,
                    self._task,
                    transaction.caches.replay,
                    replace(self.settings, steps=self.left),
                    seed=seed,
                    trained=trained,
                    yardstick=open_yardstick(
                        transaction.weights.folder,
                        model,
                        transaction.weights.version,
                        self._journal,
                        transaction.caches.replay.book,
                    ),
                    value=value,
                    pause=pause,
                )
                self._held_out = session.held_out
                run = PracticeRun(
                    session,
                    AddedSavePoints(weights, trained),
                    on_step=self._stepped,
                    on_evaluation=self._evaluated,
                    on_warm_up=self._warmed,
                    stop=stop,
                )
                # idle practice requests warm-up always; skip it if the task has no worked answers
                possible = session.has_worked or not request.idle
                wanted = request.warm_up if possible and not self._warm else False
                outcome = run.run(warm_up=wanted)
                keep_value(session.critic, published.folder, published.version, self._practised)
        finally:
            transaction.caches.forget()
            self._saved = weights.lesson if weights else None
        self._add(outcome)
        return self._done

    @property
    def _practised(self) -> str:
        """The task with its difficulty."""
        return " ".join([self._request.task, *self._request.settings])

    def taken_back(self) -> bool:
        """True if an undo removed the newest part in the meantime; the practice then counts as over."""
        version, lesson = self._transaction.weights.version, self._saved
        if lesson is None or lesson in self._journal.lessons_in(version):
            return False
        before, book = self._before
        self._done = replace(
            self._done,
            ended="stopped",
            why="taken back; practise again to begin anew",
            accuracy_after=before,
            book_after=book,
        )
        return True

    def done(self) -> PracticeDone:
        """The event that reports all parts together. Writes it to the journal."""
        done = PracticeDone(
            task=self._request.task,
            held_out=self._held_out,
            version=self._transaction.weights.version,
            idle=self._request.idle,
            run=self._run,
            **asdict(self._done),
        )
        if self._run is not None:
            end_practice(self._journal, self._run, asdict(done))
        return done

    def _begin(self) -> None:
        """Records the run and all that it depends on, once, and tells it. Raises NotFound if the run that it
        repeats is not in the journal."""
        if self._run is not None:
            return
        request, weights = self._request, self._transaction.weights
        data = Path(request.data) if request.data else None
        values = named_values(self.settings)
        record = PracticeRecord(
            seed=self.seed,
            warm_up=request.warm_up,
            settings=request.settings,
            options=values,
            data=request.data,
            data_mark=data_mark(data),
            model=weights.folder.name,
            version=weights.version,
            weights=weights_mark(weights.model),
            threads=torch.get_num_threads(),
            machine=machine(),
            packages=versions(),
        )
        now, differs = asdict(record), list[str]()
        if request.again is not None:
            differs = differences(practice_entry(self._journal, request.again).record, now)
        self._run = begin_practice(self._journal, request.task, now)
        self._emit(
            PracticeStarted(
                request.task,
                self._run,
                self.seed,
                values,
                changed_values(self.settings),
                tuple(differs),
            )
        )

    def _add(self, part: PracticeOutcome) -> None:
        whole = self._done
        self._before = part.accuracy_before, part.book_before
        if whole.accuracy_before is None:  # nothing was measured before this part
            self._done = replace(part, seconds=whole.seconds + part.seconds)
        elif part.accuracy_before is None:
            self._done = replace(
                whole, ended=part.ended, why=part.why, seconds=whole.seconds + part.seconds
            )
        else:
            self._done = replace(
                part,
                steps=whole.steps + part.steps,
                warm_up_steps=whole.warm_up_steps + part.warm_up_steps,
                accuracy_before=whole.accuracy_before,
                accuracy_warm=part.accuracy_warm if self._warm is False else whole.accuracy_warm,
                book_before=whole.book_before,
                seconds=whole.seconds + part.seconds,
                alarm=part.alarm or whole.alarm,
                saves=whole.saves + part.saves,
            )
        self._parts += 1
        self._warm = self._done.accuracy_warm is not None
        for what, value in (("steps", float(part.steps)), ("seconds", part.seconds)):
            self._measured(what, value)

    def _measured(self, what: str, value: float) -> None:
        request = self._request
        data = Path(request.data).name if request.data else ""
        self._journal.add_measure(measure_name(request.task, what, request.settings, data), value)

    # ------------------------------------------------------------ telling

    def _stepped(self, report: StepReport) -> None:
        number = self._done.steps + report.step
        self._journal.add_step(
            [], report.loss, report.groups * self.settings.group_size, report.seconds, "practice"
        )
        name = self._request.task
        self._measured("reward", report.reward_mean)
        samples = [
            PracticeSample(
                number,
                sample.problem.prompt,
                sample.text,
                sample.score.total,
                dict(sample.score.components),
                sample.truncated,
                sample.score.failed,
            )
            for sample in report.samples
        ]
        for one in samples:
            self._emit(one)
        fields: dict[str, Any] = {**vars(report), "step": number}
        del fields["samples"]
        if self._run is not None:
            add_practice_step(self._journal, self._run, number, fields, samples)
        self._emit(
            PracticeStep(
                task=name,
                steps=self.settings.steps,
                accuracy=self._accuracy,
                book_recall=self._recall,
                **fields,
            )
        )

    def _evaluated(self, found: Evaluation) -> None:
        self._accuracy, self._recall = found.accuracy, found.book_recall
        name = self._request.task
        if not found.held:  # the journal records only weights that are in use
            self._measured("accuracy", found.accuracy)
            self._journal.add_measure("book_recall", found.book_recall)
        self._emit(
            PracticeStage(
                name,
                found.stage,
                self._done.steps + found.step,
                accuracy=found.accuracy,
                book_recall=found.book_recall,
                saved=found.saved,
                held=found.held,
                alarm=found.alarm,
            )
        )

    def _warmed(self, report: WarmUpReport) -> None:
        loss = report.loss if report.step else None
        self._emit(
            PracticeStage(
                self._request.task,
                "warm_up",
                report.step,
                loss,
                report.success,
                steps=report.steps,
                enough=report.enough,
                seconds=report.seconds,
            )
        )
