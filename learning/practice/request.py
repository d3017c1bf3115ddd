"""Carries out a request to practise: sets up task, trainer and run, writes the journal, emits events.

Left out: threads and priorities (learning.teacher.teacher).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from engine.errors import CheckpointError, NotFound
from engine.tokenizers.tokenizer import Tokenizer
from learning.agents.value import ValueHead
from learning.curriculum.methods import ArmChoice
from learning.journal.journal import Journal
from learning.journal.practices import (
    KeptCurriculum,
    begin_practice,
    end_practice,
    joined_rungs,
    kept_curriculum,
    practice_entry,
    warm_up_interrupted,
)
from learning.memory.save_points import LessonSavePoints
from learning.memory.transaction import WeightTransaction
from learning.objectives.processes import ProcessGroup
from learning.practice.checks.watch import watch_of
from learning.practice.checks.yardstick import open_yardstick
from learning.practice.critic import keep_value, kept_value
from learning.practice.figures import StepReport
from learning.practice.hooks import interruptible
from learning.practice.options import changed_values, named_values
from learning.practice.record import (
    PracticeRecord,
    all_weights_mark,
    data_mark,
    differences,
    machine,
    tensors_mark,
    versions,
)
from learning.practice.requested import practice_settings
from learning.practice.run import Interrupted, PracticeOutcome, PracticeRun
from learning.practice.self_play.trainer import SelfPlayTrainer, askable
from learning.practice.settings import PracticeSettings
from learning.practice.supply.arms import split_arm
from learning.practice.supply.ladder import climbed, joining
from learning.practice.supply.requested_task import RequestedTask
from learning.practice.tags import name_tags
from learning.practice.telling import PracticeTelling
from learning.practice.trained import AddedSavePoints, trained_weights
from learning.practice.trainer import GrpoTrainer
from learning.protocol.events import Event, PracticeDone
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import Practise
from learning.rewards.owner import OwnerData
from learning.rewards.registry import find_task, reads_data
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
        if request.climbs and request.again is None:
            request = climbed(request, joined_rungs(journal, transaction.weights.folder.name))
        self._transaction, self._tokenizer = transaction, tokenizer
        self._journal, self._request = journal, request
        self._pause, self._emit, self._renamed = pause, emit, renamed
        self.settings = practice_settings(settings or PracticeSettings(), request)
        self._opened = RequestedTask(request, self.settings, self._owner, pause, find)
        self._task, self._choice = self._opened.task, self._opened.choice
        if self.settings.self_play.questions:
            askable(self._task)
        self._team = ProcessGroup.current()
        """The processes that practise together (`torchrun`)."""
        self.seed = request.seed if request.seed is not None else self._new_seed()
        self._telling = PracticeTelling(
            journal,
            transaction.weights.folder.name,
            request,
            emit,
            self.settings.steps,
            self.settings.group_size,
        )
        self._done = PracticeOutcome()
        self._parts = 0
        self._saved: int | None = None
        """Journal id of the lesson under which the newest part was saved; None if it was not."""
        self._warm = False
        """Whether a part of it has gone beyond warm-up."""
        self._warm_up = request.warm_up
        self._held_out = 0
        self._before = PracticeOutcome()
        """The newest part, of which the figures before it are used."""

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
        self._saved, published = None, transaction.weights
        value = None
        if self.settings.critic.answers:
            value = kept_value(published.folder, published.version, self._practised)
        self._begin(value)
        outcome = PracticeOutcome("stopped", "interrupted before anything was measured")
        session: GrpoTrainer | None = None
        weights: LessonSavePoints | None = None

        def name() -> None:
            if session is not None and session.taught_tags:
                self._tokenizer = name_tags(self._tokenizer, published.folder)
                self._renamed(self._tokenizer)

        def pause() -> None:
            self._pause()
            alone = self._team.size == 1  # else the others would wait for this process
            if alone and (session is None or not session.updates) and stop():
                raise Interrupted  # before the first update there is nothing to lose

        try:
            with (
                suppress(Interrupted),
                interruptible(model, self._pause) if request.idle else nullcontext(),
                transaction.begin(trained.trainable) as attempt,
                trained.training(),
            ):
                weights = LessonSavePoints(attempt, self._journal, request.task, before=name)
                session = self._trainer(
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
                    source=self._opened.source,
                    pause=pause,
                    team=self._team,
                )
                self._held_out = session.held_out
                watch = watch_of(
                    session, self._task, self._opened.taste, self._journal, self._telling.run, pause
                )
                run = PracticeRun(
                    session,
                    AddedSavePoints(weights, trained),
                    on_step=self._stepped,
                    on_evaluation=self._telling.evaluated,
                    on_warm_up=self._telling.warmed,
                    stop=stop,
                    team=self._team,
                    signs=watch.signs,
                    advice=watch.advice,
                )
                # only an owner who asks for it now is told that no problem has a worked answer
                asked = request.warm_up and not (request.idle or request.again)
                possible = session.has_worked or asked
                outcome = run.run(warm_up=self._warm_up if possible and not self._warm else False)
                with suppress(CheckpointError):  # without it a new value is learned next time
                    keep_value(session.critic, published.folder, published.version, self._practised)
        finally:
            transaction.caches.forget()
            self._saved = weights.lesson if weights else None
        self._add(outcome)
        return self._done

    @property
    def _trainer(self) -> type[GrpoTrainer]:
        return SelfPlayTrainer if self.settings.self_play.questions else GrpoTrainer

    def _new_seed(self) -> int:
        """A new seed each time, so that the problems differ; the same in all processes."""
        return int(self._team.agree(time.time_ns() % 2**31)[0])

    @property
    def _practised(self) -> str:
        """All tasks with their difficulties."""
        request = self._request
        return ", ".join(request.arms or [" ".join([request.task, *request.settings])])

    def taken_back(self) -> bool:
        """True if an undo removed the newest part in the meantime; the practice then counts as over."""
        version, lesson = self._transaction.weights.version, self._saved
        if lesson is None or lesson in self._journal.lessons_in(version):
            return False
        before = self._before
        self._done = replace(
            self._done,
            ended="stopped",
            why="taken back; practise again to begin anew",
            accuracy_after=before.accuracy_before,
            book_after=before.book_before,
            arms_after=before.arms_before,
        )
        return True

    def done(self) -> PracticeDone:
        """The event that reports all parts together. Writes it to the journal."""
        request, outcome = self._request, self._done
        joined = joining(request.arms, outcome.arms_after, outcome.ended) if request.climbs else ()
        done = PracticeDone(
            task=request.task,
            held_out=self._held_out,
            version=self._transaction.weights.version,
            idle=request.idle,
            run=self._telling.run,
            joined=joined,
            **asdict(outcome),
        )
        if self._telling.run is not None:
            end_practice(self._journal, self._telling.run, asdict(done))
        return done

    @property
    def _owner(self) -> OwnerData:
        transaction = self._transaction
        return OwnerData(
            transaction.weights.folder,
            self._journal,
            self._tokenizer,
            transaction.weights.model,
            made_up=lambda: transaction.caches.replay.turns.texts,
            pause=self._pause,
        )

    def _resume(self, choice: ArmChoice) -> dict[str, Any]:
        """Loads what a curriculum knew when this model practised most of these arms last; in a repetition,
        when the repeated run began; after a record was erased, what it knows now. {} if there is nothing."""
        if self._telling.run is not None:
            return choice.state()
        arms, again = self._request.arms, self._request.again
        if again is not None:
            state = dict(practice_entry(self._journal, again).record.get("curriculum", {}))
            kept: KeptCurriculum | None = KeptCurriculum(arms, state)
        else:
            folder = self._transaction.weights.folder
            method = named_values(self.settings)["curriculum.method"]
            kept = kept_curriculum(self._journal, arms, method, folder.name)
        if kept is None or not kept.state:
            return {}
        choice.load(kept.state, [kept.arms.index(a) if a in kept.arms else None for a in arms])
        return choice.state()

    def _stepped(self, report: StepReport) -> None:
        self._telling.stepped(report, self._choice.state() if self._choice else None)

    def _begin(self, value: ValueHead | None) -> None:
        """Writes the run's record to the journal and emits PracticeStarted: at the first part, and again if
        the record was erased since, together with a message that was practised. value: what the critic
        loaded. Raises NotFound if the run that it repeats is not in the journal, DataError or ConfigError if
        the task's data cannot be read."""
        if self._telling.run is not None:
            with suppress(NotFound):
                practice_entry(self._journal, self._telling.run)
                return
        request, weights = self._request, self._transaction.weights
        names = [split_arm(arm)[0] for arm in request.arms] or [request.task]
        if any(map(reads_data, names)):  # read now, because a run that fails later has no end
            list(islice(self._task.problems("train", random.Random()), len(names)))
        data = Path(request.data) if request.data else None
        values = named_values(self.settings)
        record = PracticeRecord(
            seed=self.seed,
            warm_up=self._warm_up,
            settings=request.settings,
            arms=request.arms,
            own_arms=request.own_arms,
            climbs=request.climbs,
            curriculum=self._resume(self._choice) if self._choice else {},
            options=values,
            data=request.data,
            data_mark=data_mark(data),
            model=weights.folder.name,
            version=weights.version,
            weights=all_weights_mark(weights.model),
            threads=torch.get_num_threads(),
            processes=self._team.size,
            machine=machine(),
            device=weights.model.device.type,
            packages=versions(),
            value=tensors_mark(value.tensors.values()) if value else "",
        )
        now, differs = asdict(record), list[str]()
        if self._warm_up is None and self._goes_on_with_warm_up(now):
            self._warm_up = now["warm_up"] = True
        if request.again is not None:
            differs = differences(practice_entry(self._journal, request.again).record, now)
        self._telling.run = run = begin_practice(self._journal, request.task, now)
        changed = changed_values(self.settings)
        self._emit(PracticeStarted(request.task, run, self.seed, values, changed, tuple(differs)))

    def _goes_on_with_warm_up(self, record: dict[str, Any]) -> bool:
        """Whether an interrupted warm-up of the same goes on; the same in all processes."""
        request = self._request
        goes_on = request.again is None and warm_up_interrupted(self._journal, request.task, record)
        return bool(self._team.agree(float(goes_on))[0])

    def _add(self, part: PracticeOutcome) -> None:
        whole = self._done
        if part.warm_up_steps and not part.steps:
            self._warm_up = True  # the next part goes on with it
        self._before = part
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
                accuracy_warm=whole.accuracy_warm
                if part.accuracy_warm is None
                else part.accuracy_warm,
                book_before=whole.book_before,
                seconds=whole.seconds + part.seconds,
                alarm=part.alarm or whole.alarm,
                saves=whole.saves + part.saves,
                arms_before=whole.arms_before,
                asked_before=whole.asked_before or part.asked_before,
                asked_after=part.asked_after or whole.asked_after,
            )
        self._parts += 1
        self._telling.before = self._done.steps
        self._warm = self._warm or (part.accuracy_warm is not None and part.steps > 0)
        self._telling.spent(part.steps, part.seconds)
