"""A home with a teacher and the app's session, so that a benchmark teaches and asks as an owner does."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterable

from engine.errors import VidyaError
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.events import AskDone, Event, Failed, LessonDone
from learning.protocol.messages import TeacherPort
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Learn
from learning.teacher.teacher import open_teacher
from vidya_tui.session.candidate import Card
from vidya_tui.session.session import Session


class Place:
    """A home with a teacher, as in the app."""

    def __init__(self, home: Home, model: str, seed: int) -> None:
        self._seed = seed
        self._events: queue.Queue[Event] = queue.Queue()
        self._journal = Journal(home.journal_path)
        self._teacher: TeacherPort = open_teacher(
            home, model=model, seed=seed, on_event=self._events.put, journal=self._journal
        )

    def close(self) -> None:
        self._teacher.close()
        self._journal.close()

    def teach(self, facts: Iterable[tuple[str, str]]) -> None:
        """Teaches (question, answer) pairs one after another. Raises VidyaError."""
        lessons = [Lesson("example", (Turn("user", asked),), answer) for asked, answer in facts]
        due = {lesson.id for lesson in self._journal.add_lessons(lessons)}
        self._teacher.send(Learn())
        while due:
            event = self._next()
            if isinstance(event, LessonDone):
                due.discard(event.lesson)

    def rest(self, seconds: float) -> None:
        """Leaves the learner to itself for so long, as the owner does who pauses. Raises VidyaError."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                self._next(left)

    def cards(self, message: str) -> list[Card]:
        """The answers to a message in a new conversation, as they are shown. Raises VidyaError."""
        return self._answered(self._session(), message)

    def _session(self) -> Session:
        session = Session(self._journal, self._teacher, seed=self._seed)
        session.owner_words = False
        return session

    def _answered(self, session: Session, message: str) -> list[Card]:
        session.say(message)
        while True:
            event = self._next()
            session.handle(event)
            if isinstance(event, AskDone):
                return list(session.cards)

    def _next(self, seconds: float | None = None) -> Event:
        """The next event; waits for it, so long at most. Raises queue.Empty, and VidyaError for a failure."""
        event = self._events.get(timeout=seconds)
        if isinstance(event, Failed):
            raise VidyaError(event.what, event.next_step)
        return event
