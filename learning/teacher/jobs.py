"""The learning thread: runs jobs one after another (learn, undo, train, practise, grow, forget).

Left out: the other threads (learning.teacher.teacher), and how each job works (learning.lessons,
learning.book_training, learning.practice).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.errors import VidyaError
from engine.freed_memory import return_freed_memory
from engine.storage.disk import demand_room, full_disk, is_full
from engine.tokenizers.tokenizer import Tokenizer
from learning.book.owner_book import OwnerBook
from learning.book_training.resume import Stopped
from learning.book_training.trainer import BookTrainer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.forget import forget
from learning.lessons.learner import Learner
from learning.memory.book_rows import UnreadableBook
from learning.models.grow import grow_model
from learning.models.store import ModelStore
from learning.models.unfinished_training import Unfinished, read_unfinished
from learning.protocol.events import Event, Failed, Forgotten, LearnerState, LessonDone, UndoDone
from learning.protocol.model_events import Grown
from learning.protocol.requests import Forget, Grow, Learn, Practise, SetLearning, Train, Undo
from learning.rewards.reward_keeper import RewardKeeper
from learning.teacher.scheduling import Scheduler, at_lowest_priority, lower_priority
from learning.teacher.training_events import (
    TrainingEvents,
    adapter_plan,
    book_settings,
    never_begun,
)

PAUSE = 10.0
"""Seconds without a key press that count as a pause."""

LOOK = 1.0
"""Seconds between two looks whether a book with a bad line was mended."""
WHEN_MENDED = (
    "mend the book: no lesson is learned before that, and those that wait are learned then"
)

Job = Learn | Undo | Train | Practise | Grow | Forget


class Signals:
    """Signals from other threads to the running job: stop, cancel, give way."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.stopping = threading.Event()
        self.cancel_training, self.cancel_practice = threading.Event(), threading.Event()
        self.owner_is_back = threading.Event()

    def pause(self) -> None:
        """Call between micro-batches: waits while the owner needs the machine. Raises Stopped."""
        if self.stopping.is_set():
            raise Stopped
        self._scheduler.give_way()
        if self.stopping.is_set():
            raise Stopped

    def idle_pause(self) -> None:
        """The same for idle practice: raises Interrupted at the first key press, Stopped on closing."""
        from learning.practice.run import Interrupted

        if self.stopping.is_set():
            raise Stopped
        if self.owner_is_back.is_set():
            raise Interrupted


class Jobs:
    """The queue of jobs, and the code that runs each."""

    def __init__(
        self,
        home: Home,
        device: str,
        journal: Journal,
        learner: Learner,
        scheduler: Scheduler,
        signals: Signals,
        emit: Callable[[Event], None],
    ) -> None:
        self._home, self._device = home, device
        self._journal = journal
        self._learner = learner
        self._trainer = BookTrainer(learner.transaction, learner.tokenizer)
        self._taste = RewardKeeper(
            learner.folder,
            lambda: (learner.version, learner.weights.model),
            learner.tokenizer,
            journal,
            pause=signals.pause,
        )
        self._scheduler, self._signals = scheduler, signals
        self._emit = emit
        self._how = SetLearning(on=True)
        self._waiting: queue.Queue[Job | None] = queue.Queue()
        self._book = OwnerBook(home.book_path)
        self._unreadable: float | None = None
        """When the book was written that keeps lessons from being learned; None: none does."""

    def put(self, job: Job) -> None:
        """Appends a job to the queue."""
        if isinstance(job, Train):
            self._signals.cancel_training.clear()
        elif isinstance(job, Practise):
            self._signals.cancel_practice.clear()
            self._signals.owner_is_back.clear()
        self._waiting.put(job)

    def learn_as(self, how: SetLearning) -> None:
        """Changes how lessons are learned from now on, then learns those that wait."""
        self._how = how
        self._learner.weak, self._learner.reasons = how.weak, how.reasons
        self._waiting.put(Learn())

    def stop(self) -> None:
        """Ends `run`; the running job is interrupted at its next pause."""
        self._signals.stopping.set()
        self._waiting.put(None)

    def drop_trainings(self) -> None:
        """Removes waiting trainings from the queue and reports each as cancelled."""
        with self._waiting.mutex:
            waiting = [job for job in self._waiting.queue if isinstance(job, Train)]
            for job in waiting:
                self._waiting.queue.remove(job)
        for job in waiting:
            self._emit(never_begun(job, self._learner.folder, self._learner.version))

    def run(self) -> None:
        """Body of the learning thread: runs jobs until `stop`."""
        lower_priority(10)
        while (job := self._next()) is not None and not self._signals.stopping.is_set():
            try:
                self._do(job)
            except Stopped:
                return
            if self._waiting.empty():
                self._learner.rest()
                return_freed_memory()

    def _next(self) -> Job | None:
        """The next job of the queue. Learns again where the book that kept lessons waiting was changed."""
        while self._unreadable is not None:
            with suppress(queue.Empty):
                return self._waiting.get(timeout=LOOK)
            if self._book.written() != self._unreadable:
                return Learn()
        return self._waiting.get()

    def _do(self, job: Job) -> None:
        """Runs one job and reports its errors as events. Raises Stopped."""
        where = type(job).__name__.lower()
        try:
            if isinstance(job, Learn):
                self._learn()
            elif isinstance(job, Undo):
                self._undo(job)
                self._learn_taste()
            elif isinstance(job, Forget):
                self._forget(job)
            elif isinstance(job, Train):
                self._train(job)
            elif isinstance(job, Grow):
                self._grow(job)
            else:
                self._practise(job)
        except Stopped:
            raise
        except VidyaError as error:
            self._emit(Failed(where, error.what, error.next_step))
        except Exception as error:
            what, next_step = f"{where} failed ({type(error).__name__}: {error})", "try again"
            if is_full(error):
                what, next_step = full_disk(self._home.path)
            self._emit(Failed(where, what, f"nothing was lost; {next_step}"))
        if not self._signals.stopping.is_set():
            with suppress(VidyaError):  # an unreadable journal was reported by the job
                waiting = self._journal.waiting_count()
                self._emit(LearnerState("idle" if self._how.on else "off", waiting))

    def _learn(self) -> None:
        """Learns what waits, then uses the pause. Raises UnreadableBook, having noted which book it was."""
        written, self._unreadable = self._book.written(), None
        try:
            self._learn_waiting()
            self._use_the_pause()
        except UnreadableBook as error:
            self._unreadable = written
            raise UnreadableBook(error.what, WHEN_MENDED) from error

    def _learn_waiting(self) -> None:
        """Undoes withdrawn lessons, then learns those that wait."""
        known = self._journal.taken_back_in(self._learner.version)
        for withdrawn in sorted({lesson.id for lesson in (*self._journal.to_undo(), *known)}):
            try:
                self._undo(Undo(withdrawn))
            except VidyaError as error:  # for example unreadable earlier weights
                self._emit(Failed("undo", error.what, error.next_step))
        if self._how.on:
            with suppress(VidyaError):  # a journal that cannot be read is reported below
                if not self._how.in_pauses and (waiting := self._journal.waiting_count()):
                    self._emit(LearnerState("gathering", waiting))
            self._learner.caches.prepare()  # which takes a while after a start
        while self._how.on and (lesson := self._journal.next_waiting()):
            waiting = self._journal.waiting_count()
            if not self._in_a_pause(waiting):
                return
            self._signals.pause()
            demand_room(self._learner.folder, 4 * self._learner.published.model.config.parameters)
            self._emit(LearnerState("gathering", waiting))
            try:
                report = self._learner.learn(lesson)
            except (Stopped, VidyaError):
                raise  # the fault is not the lesson's (disk, book, model): it keeps waiting
            except Exception as error:
                if not is_full(error):
                    # do not block the lessons behind it; book training will teach it
                    self._journal.set_lesson_state(lesson.id, "needs_practice")
                    self._waiting.put(Learn())
                raise
            self._emit(LessonDone(**vars(report)))

    def _in_a_pause(self, waiting: int) -> bool:
        """True if a lesson may start; with `in_pauses` set, waits for a pause first. False if another job
        should run first; learning is then queued again behind it. Raises Stopped."""
        told = False
        while self._how.in_pauses and self._how.on and self._scheduler.quiet_for() < PAUSE:
            if any(not isinstance(job, Learn) for job in tuple(self._waiting.queue)):
                self._waiting.put(Learn())
                return False
            if not told:
                self._emit(LearnerState("paused", waiting))
                told = True
            time.sleep(0.1)
            if self._signals.stopping.is_set():
                raise Stopped
        return self._how.on

    def _use_the_pause(self) -> None:
        """While the queue is empty, re-measures the memory and repairs what was forgotten."""
        while self._how.on and self._waiting.empty() and self._learner.catch_up():
            self._signals.pause()
        self._learn_taste()

    def _learn_taste(self) -> None:
        """While the queue is empty, learns what the owner likes, or unlearns what was taken back."""
        while self._how.on and self._waiting.empty() and self._taste.catch_up():
            if self._taste.busy:
                self._emit(LearnerState("taste"))
            self._signals.pause()

    def _undo(self, job: Undo) -> None:
        lesson = (
            self._journal.last_lesson() if job.lesson is None else self._journal.lesson(job.lesson)
        )
        if lesson is None:
            self._emit(UndoDone(None, "there is nothing to undo", self._learner.version))
            return
        before = lesson.state == "undone"
        if before and lesson not in self._journal.taken_back_in(self._learner.version):
            return  # undone already, before its turn, and reported then
        done, lost = self._learner.undo(lesson)
        self._emit(replace(done, lesson=None) if before else done)
        if lost or self._journal.taken_back_in(self._learner.version):
            self._waiting.put(Learn())

    def _grow(self, job: Grow) -> None:
        source = str(self._learner.folder)
        info = grow_model(
            ModelStore(self._home), source, job.config, job.name, pause=self._signals.pause
        )
        self._emit(Grown(info.name, info.parameters))

    def _forget(self, job: Forget) -> None:
        home, folder = self._home, self._learner.folder
        try:
            doomed = self._journal.to_forget(conversation=job.conversation)
            done = forget(
                home,
                self._journal,
                doomed,
                () if job.keep_weights else (folder,),
                device=self._device,
                learner=self._learner,
            )
        except VidyaError as error:
            self._emit(Forgotten(job.conversation, trouble=error.what, next_step=error.next_step))
            return
        finally:
            self._learner.recover()  # make the journal agree with the weights in use
        went_back = bool(done.models)
        said = (done.records, done.book_lines, went_back, tuple(done.unvouched))
        self._emit(Forgotten(job.conversation, *said, practice_lost=bool(done.practice_lost)))
        self._waiting.put(Learn())

    def _train(self, job: Train) -> None:
        """Trains on a book. Train() without arguments resumes an interrupted training."""
        kept = read_unfinished(self._learner.folder) if job == Train() else None
        job = kept.request if kept else job
        kept = kept or Unfinished(job, self._learner.version)
        settings = book_settings(job)
        report = TrainingEvents(self._emit, settings.epochs, own=job.book is not None)
        book = Path(job.book) if job.book else None
        stop = self._signals.cancel_training.is_set
        plan = adapter_plan(job, self._learner.published.model.config.layers)
        own = Path(job.own_talk) if job.own_talk else None
        self._emit(
            self._trainer.train(
                book,
                settings,
                report,
                stop,
                skip_bad=job.skip_bad,
                kept=kept,
                plan=plan,
                own_talk=own,
            )
        )
        if self._journal.waiting_count():  # lessons that the training could not teach wait again
            self._waiting.put(Learn())

    def _practise(self, job: Practise) -> None:
        """Practises. Interrupts itself for jobs that arrive meanwhile, then continues."""
        from learning.practice.request import PracticeJob

        def renamed(tokenizer: Tokenizer) -> None:
            self._learner.tokenizer = tokenizer

        idle = job.idle
        coach = PracticeJob(
            self._learner.transaction,
            self._learner.tokenizer,
            self._journal,
            job,
            pause=self._signals.idle_pause if idle else self._signals.pause,
            emit=self._emit,
            renamed=renamed,
        )
        stop = self._signals.owner_is_back if idle else self._signals.cancel_practice

        def others() -> bool:
            return (
                stop.is_set() or self._signals.cancel_practice.is_set() or not self._waiting.empty()
            )

        try:
            if idle:
                at_lowest_priority(lambda: coach.practise(others))
            else:
                while coach.practise(others).ended == "stopped" and not stop.is_set():
                    self._do_others()
                    if coach.taken_back():
                        break
            done = coach.done()
        finally:
            coach.close()
        self._emit(done)

    def _do_others(self) -> None:
        """Runs the jobs that arrived while a longer one was running. Raises Stopped."""
        while not self._waiting.empty() and not self._signals.stopping.is_set():
            job = self._waiting.get()
            if job is None:
                self._signals.stopping.set()
                raise Stopped
            self._do(job)
