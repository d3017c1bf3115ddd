"""The one face that the app and the shell commands talk to: answers asks, learns in the background.

Three threads share the machine by the turnstile: one answers (learning.teacher.generation), one learns,
one looks at what is known (learning.teacher.inspection). Requests are handed over and return at once;
events come back from any.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from pathlib import Path

from engine.errors import VidyaError
from engine.storage.disk import demand_room, full_disk, is_full
from engine.storage.files import remove_leftovers
from learning.book_training.resume import Stopped
from learning.book_training.trainer import BookTrainer
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.forget import forget
from learning.lessons.learner import Learner
from learning.models.grow import grow_model
from learning.models.plain_text import continues_only
from learning.models.store import ModelStore
from learning.models.unfinished_training import Unfinished, read_unfinished
from learning.protocol.events import (
    Event,
    Failed,
    Forgotten,
    Grown,
    LearnerState,
    LessonDone,
    Ready,
    UndoDone,
)
from learning.protocol.messages import TeacherPort
from learning.protocol.records import LessonKind
from learning.protocol.requests import (
    Cancel,
    CancelPractice,
    CancelTraining,
    Check,
    Compare,
    Forget,
    Generate,
    Grow,
    Keep,
    Learn,
    OwnerActive,
    Practise,
    Request,
    SetLearning,
    Shutdown,
    StopComparing,
    Train,
    Undo,
)
from learning.teacher.answer_check import KnownTexts
from learning.teacher.generation import Answerer
from learning.teacher.inspection import Inspector
from learning.teacher.scheduling import Scheduler, at_lowest_priority, lower_priority
from learning.teacher.training_told import TELL_EVERY, TrainingTold, book_settings, never_begun

PAUSE = 10.0
"""Seconds without a key that count as a pause of the owner."""
DEFAULT_MODEL = "10m"


def open_teacher(
    home: Home,
    *,
    model: str | None = None,
    device: str = "cpu",
    seed: int | None = None,
    on_event: Callable[[Event], None],
    journal: Journal | None = None,
    weak: Collection[LessonKind] = (),
) -> TeacherPort:
    """Loads a model of the home and starts a teacher in this process. Raises VidyaError.

    weak: kinds of lessons that are learned though nobody judged them, see SetLearning."""
    with contextlib.ExitStack() as held:
        held.enter_context(home.learning())
        remove_leftovers(home.models_path)
        folder = ModelStore(home).resolve(model or DEFAULT_MODEL)
        teacher = Teacher(home, folder, journal, device=device, seed=seed, on_event=on_event)
        teacher._learner.weak = weak
        teacher.held = held.pop_all()
        return teacher


class Teacher:
    """A TeacherPort around one learner."""

    def __init__(
        self,
        home: Home,
        folder: Path,
        journal: Journal | None,
        *,
        device: str,
        seed: int | None,
        on_event: Callable[[Event], None],
    ) -> None:
        self._emit = on_event
        self.held = contextlib.ExitStack()
        """What is given back when the teacher closes."""
        self._home, self._device = home, device
        self._own_journal = journal is None
        self._journal = journal or Journal(home.journal_path)
        self._store = ModelStore(home)
        self._turnstile = Scheduler()
        self._stopping, self._cancel_training = threading.Event(), threading.Event()
        self._learning, self._in_pauses = True, False
        self._told = 0.0
        self._learner = Learner(
            home,
            folder,
            self._journal,
            device=device,
            seed=seed,
            pause=self._pause,
            tell=self._tell,
        )
        self._trainer = BookTrainer(
            self._learner.transaction, self._learner.tokenizer, home.book_path
        )
        self._jobs: queue.Queue[Learn | Undo | Train | Practise | Grow | Forget | None] = (
            queue.Queue()
        )
        self._cancel_practice, self._owner_is_back = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._learn_loop, name="learn", daemon=True)
        self._looker = Inspector(self._learner, self._journal, self._turnstile, self._emit)
        heard, known = self._looker.heard, KnownTexts(self._journal, home.book_path)
        self._answerer = Answerer(
            self._learner, self._turnstile, self._emit, heard, known, seed=seed
        )
        parameters = self._learner.published.model.config.parameters
        version = self._learner.version
        plain = continues_only(folder, version)
        self._emit(Ready(folder.name, version, parameters, device, plain))
        self._answerer.start()
        for lesson in self._journal.taken_back_in(self._learner.version):
            self._jobs.put(Undo(lesson.id))  # in another model, where these weights did not follow
        self._thread.start()

    def send(self, request: Request) -> None:
        """Hands a request over; returns at once."""
        if isinstance(request, Generate | Keep | Cancel):
            self._answerer.send(request)
        elif isinstance(request, Learn | Undo | Train | Practise | Grow | Forget):
            if isinstance(request, Train):
                self._cancel_training.clear()
            elif isinstance(request, Practise):
                self._cancel_practice.clear()
                self._owner_is_back.clear()
            self._jobs.put(request)
        elif isinstance(request, CancelPractice):
            self._cancel_practice.set()
        elif isinstance(request, CancelTraining):
            self._cancel_training.set()
            self._drop_trainings()
        elif isinstance(request, SetLearning):
            self._learning, self._in_pauses = request.on, request.in_pauses
            self._learner.weak = request.weak
            self._jobs.put(Learn())
        elif isinstance(request, OwnerActive):
            self._turnstile.key_pressed()
            self._owner_is_back.set()
        elif isinstance(request, Check | Compare | StopComparing):
            self._looker.send(request)
        elif isinstance(request, Shutdown):
            self.close()

    def _drop_trainings(self) -> None:
        """Those that wait behind something else end now."""
        with self._jobs.mutex:
            waiting = [job for job in self._jobs.queue if isinstance(job, Train)]
            for job in waiting:
                self._jobs.queue.remove(job)
        for job in waiting:
            self._emit(never_begun(job, self._learner.folder, self._learner.version))

    def close(self) -> None:
        """Stops all threads; a lesson under way is put back and stays waiting."""
        self._stopping.set()
        self._jobs.put(None)
        self._answerer.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=30)
        self._looker.close()
        if self._own_journal:
            self._journal.close()
        self.held.close()

    # ------------------------------------------------------------ learning

    def _learn_loop(self) -> None:
        lower_priority(10)
        while (job := self._jobs.get()) is not None and not self._stopping.is_set():
            try:
                self._do(job)
            except Stopped:
                return

    def _do(self, job: Learn | Undo | Train | Practise | Grow | Forget) -> None:
        """One job; what goes wrong is told. Raises Stopped."""
        where = type(job).__name__.lower()
        try:
            if isinstance(job, Learn):
                self._learn_waiting()
                self._use_the_pause()
            elif isinstance(job, Undo):
                self._undo(job)
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
        if not self._stopping.is_set():
            self._emit(
                LearnerState("idle" if self._learning else "off", len(self._journal.waiting()))
            )

    def _learn_waiting(self) -> None:
        known = self._journal.taken_back_in(self._learner.version)
        for withdrawn in sorted({lesson.id for lesson in (*self._journal.to_undo(), *known)}):
            try:
                self._undo(Undo(withdrawn))
            except VidyaError as error:  # earlier weights that cannot be read, for one
                self._emit(Failed("undo", error.what, error.next_step))
        if self._learning:
            self._learner.caches.prepare()
        while self._learning and (waiting := self._journal.waiting()):
            if not self._in_a_pause(len(waiting)):
                return
            self._pause()
            demand_room(self._learner.folder, 4 * self._learner.published.model.config.parameters)
            batch = self._learner.settings.mixture.batch
            self._emit(LearnerState("gathering", len(waiting), min(len(waiting), batch), batch))
            try:
                report = self._learner.learn(waiting[0])
            except (Stopped, VidyaError):
                raise  # the disk, the book or the model is to blame: the lesson goes on waiting
            except Exception as error:
                if not is_full(error):
                    # it must not block those behind it; book training comes back to it
                    self._journal.set_lesson_state(waiting[0].id, "needs_practice")
                    self._jobs.put(Learn())
                raise
            self._emit(LessonDone(**asdict(report)))

    def _in_a_pause(self, waiting: int) -> bool:
        """Whether a lesson may begin; where that is for pauses only, waits for one. False where
        something else is to be done first: learning is asked for again after it."""
        told = False
        while self._in_pauses and self._learning and self._turnstile.quiet_for() < PAUSE:
            if any(not isinstance(job, Learn) for job in tuple(self._jobs.queue)):
                self._jobs.put(Learn())
                return False
            if not told:
                self._emit(LearnerState("paused", waiting))
                told = True
            time.sleep(0.1)
            if self._stopping.is_set():
                raise Stopped
        return self._learning

    def _use_the_pause(self) -> None:
        """While nobody wants anything, all of the memory is looked at, and mended where it broke."""
        while self._learning and self._jobs.empty() and self._learner.catch_up():
            self._pause()

    def _undo(self, job: Undo) -> None:
        lesson = (
            self._journal.last_lesson() if job.lesson is None else self._journal.lesson(job.lesson)
        )
        if lesson is None:
            self._emit(UndoDone(None, "there is nothing to undo", self._learner.version))
            return
        before = lesson.state == "undone"
        if before and lesson not in self._journal.taken_back_in(self._learner.version):
            return  # with what waited, before its own turn came; it was told then
        done, lost = self._learner.undo(lesson)
        self._emit(replace(done, lesson=None) if before else done)
        if lost or self._journal.taken_back_in(self._learner.version):
            self._jobs.put(Learn())

    def _grow(self, job: Grow) -> None:
        source = str(self._learner.folder)
        info = grow_model(self._store, source, job.config, job.name, pause=self._pause)
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
            self._learner.recover()  # the journal follows the weights that are in use
        went_back = bool(done.models)
        unsure = tuple(done.unvouched)
        self._emit(Forgotten(job.conversation, done.records, done.book_lines, went_back, unsure))
        self._jobs.put(Learn())

    def _train(self, job: Train) -> None:
        """A training for which nothing is named goes on where the last was broken off."""
        kept = read_unfinished(self._learner.folder) if job == Train() else None
        job = kept.request if kept else job
        kept = kept or Unfinished(job, self._learner.version)
        settings = book_settings(job)
        report = TrainingTold(self._emit, settings.epochs, own=job.book is not None)
        book = Path(job.book) if job.book else None
        stop = self._cancel_training.is_set
        self._emit(
            self._trainer.train(book, settings, report, stop, skip_bad=job.skip_bad, kept=kept)
        )
        if self._journal.waiting():  # what a training cannot teach waits again after it
            self._jobs.put(Learn())

    # ------------------------------------------------------------ practice

    def _practise(self, job: Practise) -> None:
        """Practises; lessons and undos that come meanwhile go first, then it goes on."""
        from learning.practice.request import PracticeJob

        idle = job.idle
        coach = PracticeJob(
            self._learner.transaction,
            self._learner.tokenizer,
            self._journal,
            job,
            pause=self._idle_pause if idle else self._pause,
            emit=self._emit,
        )
        stop = self._owner_is_back if idle else self._cancel_practice

        def others() -> bool:
            return stop.is_set() or self._cancel_practice.is_set() or not self._jobs.empty()

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
        """What came while something longer was under way."""
        while not self._jobs.empty() and not self._stopping.is_set():
            job = self._jobs.get()
            if job is None:
                self._stopping.set()
                raise Stopped
            self._do(job)

    def _idle_pause(self) -> None:
        """While the owner is away: at the first key everything is dropped at once."""
        from learning.practice.run import Interrupted

        if self._stopping.is_set():
            raise Stopped
        if self._owner_is_back.is_set():
            raise Interrupted

    def _pause(self) -> None:
        """Between micro-batches: the owner goes first."""
        if self._stopping.is_set():
            raise Stopped
        self._turnstile.give_way()
        if self._stopping.is_set():
            raise Stopped

    def _tell(self, state: LearnerState) -> None:
        now = time.monotonic()
        if now - self._told >= TELL_EVERY:
            self._told = now
            self._emit(state)
