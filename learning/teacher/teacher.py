"""The teacher, used by the app and the shell commands: answers asks and learns in the background.

Three threads share the machine through the scheduler: one answers (learning.teacher.generation), one
learns (learning.teacher.jobs), one measures what is known (learning.teacher.inspection). `send` queues a
request and returns at once; events come from any of the threads.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from engine.storage.files import remove_leftovers
from learning.home import Home
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.models.plain_text import continues_only
from learning.models.store import ModelStore
from learning.protocol.events import (
    Event,
    Forgotten,
    LearnerState,
    LessonDone,
    MakingVectors,
    Ready,
    TrainDone,
    Understood,
    UndoDone,
)
from learning.protocol.messages import TeacherPort
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import LessonKind
from learning.protocol.requests import (
    Cancel,
    CancelPractice,
    CancelTraining,
    Check,
    Compare,
    FindDisputed,
    Foretell,
    Generate,
    Keep,
    OwnerActive,
    Request,
    SetLearning,
    Shutdown,
    StopComparing,
    Undo,
)
from learning.teacher.generation import Answerer
from learning.teacher.inspection import Inspector
from learning.teacher.jobs import Job, Jobs, Signals
from learning.teacher.known import KnownTexts
from learning.teacher.recall import LessonRecall
from learning.teacher.scheduling import Scheduler
from learning.teacher.training_events import TELL_EVERY

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
    patient: bool = False,
) -> TeacherPort:
    """Loads a model of the home and starts a teacher in this process. Raises VidyaError.

    weak: kinds of lessons to learn although the owner did not judge them, see SetLearning. patient: an answer
    that may recall a lesson waits until all lessons can be recalled, and MakingVectors tells it."""
    with contextlib.ExitStack() as held:
        held.enter_context(home.learning())
        remove_leftovers(home.models_path)
        folder = ModelStore(home).resolve(model or DEFAULT_MODEL)
        teacher = Teacher(
            home, folder, journal, device=device, seed=seed, on_event=on_event, patient=patient
        )
        teacher._learner.weak = weak
        teacher.held = held.pop_all()
        return teacher


class Teacher:
    """Implements TeacherPort with one learner."""

    def __init__(
        self,
        home: Home,
        folder: Path,
        journal: Journal | None,
        *,
        device: str,
        seed: int | None,
        on_event: Callable[[Event], None],
        patient: bool = False,
    ) -> None:
        """patient: see `open_teacher`."""
        self._emit = on_event
        self.held = contextlib.ExitStack()
        """Resources to release when the teacher closes."""
        self._own_journal = journal is None
        self._journal = journal or Journal(home.journal_path)
        self._turnstile = Scheduler()
        self._signals = Signals(self._turnstile)
        self._told = 0.0
        self._learner = Learner(
            home,
            folder,
            self._journal,
            device=device,
            seed=seed,
            pause=self._signals.pause,
            tell=self._tell,
        )
        self._jobs = Jobs(
            home, device, self._journal, self._learner, self._turnstile, self._signals, self._done
        )
        self._thread = threading.Thread(target=self._jobs.run, name="learn", daemon=True)
        tell = (lambda missing: self._emit(MakingVectors(missing))) if patient else None
        self._recall = recall = LessonRecall(self._learner, self._journal, tell)
        self._looker = Inspector(self._learner, self._journal, self._turnstile, self._emit, recall)
        heard, books = self._looker.heard, self._learner.caches.books
        known = KnownTexts(self._journal, home.book_path, books)
        self._answerer = Answerer(
            self._learner, self._turnstile, self._emit, heard, known, recall, seed=seed
        )
        parameters = self._learner.published.model.config.parameters
        version = self._learner.version
        plain = continues_only(folder, version)
        system = bool(self._learner.tokenizer.chat.system_head)
        self._emit(Ready(folder.name, version, parameters, device, plain, system))
        self._answerer.start()
        for lesson in self._journal.taken_back_in(self._learner.version):
            self._jobs.put(Undo(lesson.id))  # withdrawn while another model was in use
        self._thread.start()

    def send(self, request: Request) -> None:
        """Queues a request; returns at once."""
        if isinstance(request, Generate | Keep | Cancel):
            self._answerer.send(request)
        elif isinstance(request, Job):
            self._jobs.put(request)
        elif isinstance(request, CancelPractice):
            self._signals.cancel_practice.set()
        elif isinstance(request, CancelTraining):
            self._signals.cancel_training.set()
            self._jobs.drop_trainings()
        elif isinstance(request, SetLearning):
            self._looker.get_ready()
            self._jobs.learn_as(request)
        elif isinstance(request, OwnerActive):
            self._turnstile.key_pressed()
            self._signals.owner_is_back.set()
        elif isinstance(request, Check | Compare | Foretell | FindDisputed | StopComparing):
            self._looker.send(request)
        elif isinstance(request, Shutdown):
            self.close()

    def close(self) -> None:
        """Stops all threads. A running lesson is rolled back and stays waiting."""
        self._jobs.stop()
        self._recall.close()
        self._answerer.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=30)
        self._looker.close()
        if self._own_journal:
            self._journal.close()
        self.held.close()

    def _done(self, event: Event) -> None:
        """Emits an event of the learning thread; lessons and weights may be others after some of them."""
        self._emit(event)
        if isinstance(event, LessonDone | UndoDone | TrainDone | Forgotten):
            self._looker.get_ready()

    def _tell(self, state: LearnerState | Understood | ReasonGivenUp) -> None:
        """Emits what the learner says; its progress at most once per TELL_EVERY."""
        now = time.monotonic()
        if isinstance(state, Understood | ReasonGivenUp):
            self._emit(state)
            return
        if now - self._told >= TELL_EVERY:
            self._told = now
            self._emit(state)
