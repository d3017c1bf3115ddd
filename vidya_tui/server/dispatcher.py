"""Between the clients and the teacher: answers and judgements, all in the thread of the event loop.

The teacher answers one ask after another, in the order of the requests; here is only who waits for what.
Left out: HTTP (application.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from engine.config import Sampling
from engine.errors import JournalError, NotFound, VidyaError
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    Event,
    Failed,
    Forgotten,
    LessonDone,
    MessageCut,
    Ready,
    Understood,
    UndoDone,
)
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Ask, Turn, Turns
from learning.protocol.requests import Cancel
from vidya_tui.cli.common import LocalTeacher
from vidya_tui.controller.preferences import how_to_learn, prepare
from vidya_tui.server.reading import CompletionRequest, FeedbackRequest
from vidya_tui.server.refusal import Refusal
from vidya_tui.server.served import ServedSession
from vidya_tui.session import teaching
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings
from vidya_tui.state import learner as learner_state
from vidya_tui.state.known import StateStore

MOST = 16
"""Most completions at a time, with the one that is being answered."""
REMEMBERED = 100_000
"""The server remembers at most so many answers. If the last assistant turn of a request is one of them, the
request continues the conversation of that answer."""
_ENDED = Failed("serve", "the server ends")
"""The last event that is passed on."""
_REPLACED = ("a newer judgement replaced this one", "nothing of it is learned")
_ENDS = ("the server is ending", "ask again when it runs")


@dataclass
class Run:
    """One ask that waits or is answered."""

    session: ServedSession
    ask: Ask
    notes: list[str] = field(default_factory=list)
    """What the client should know about how its request is answered."""
    answers: list[CandidateDone] = field(default_factory=list)
    """The candidates that are done."""
    done: AskDone | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """The teacher has begun to answer, or has refused."""
    _news: asyncio.Queue[CandidateDone | None] = field(default_factory=asyncio.Queue)
    _trouble: Refusal | None = None
    _ended: bool = False

    async def next(self) -> CandidateDone | None:
        """The next candidate that is done; None when all are. Raises Refusal."""
        answer = await self._news.get()
        if answer is None and self._trouble:
            raise self._trouble
        return answer

    async def until_begun(self) -> None:
        """Returns when the teacher has begun. Raises Refusal if it refuses at once."""
        await self.begun.wait()
        if self._trouble and not self.answers:
            raise self._trouble

    def finished(self, answer: CandidateDone) -> None:
        self.answers.append(answer)
        self._news.put_nowait(answer)

    def end(self, trouble: Refusal | None = None) -> None:
        """No more candidates come. The first call counts."""
        if self._ended:
            return
        self._ended, self._trouble = True, trouble
        self.begun.set()
        self._news.put_nowait(None)


class Dispatcher:
    """Takes requests for one model of one home."""

    def __init__(
        self,
        place: LocalTeacher,
        settings: Settings,
        drawn: Sampling,
        *,
        seed: int | None,
        tell: Callable[[str], None],
    ) -> None:
        """place: with a teacher that has not been listened to. drawn: how the model draws its answers, where
        neither the request nor the settings say. seed: of requests without one. tell: prints a message."""
        assert place.teacher is not None
        self._place, self._settings, self._drawn = place, settings, drawn
        self._teacher, self._journal = place.teacher, place.journal
        self._seed, self._tell = seed, tell
        self.ready = place.next(lambda event: None, Ready)
        self._runs: dict[int, Run] = {}
        self._lessons: dict[int, asyncio.Future[LessonDone]] = {}
        self._answered: dict[bytes, int] = {}
        self._closed = False
        self._pump: threading.Thread | None = None

    @property
    def model(self) -> str:
        """Name of the model that answers."""
        return self.ready.model

    def open(self) -> None:
        """Begins to listen to the teacher, in the running event loop, and to learn what waits."""
        loop = asyncio.get_running_loop()

        def pump() -> None:
            while (event := self._place.events.get()) is not _ENDED:
                try:
                    loop.call_soon_threadsafe(self._hear, event)
                except RuntimeError:  # the loop is closed
                    return

        self._pump = threading.Thread(target=pump, name="serve", daemon=True)
        self._pump.start()
        self._teacher.send(how_to_learn(self._settings))

    def stop(self) -> None:
        """Ends all that runs: what streams is cancelled, and nobody waits for a lesson any more."""
        self._closed = True
        for run in self._runs.values():
            self._teacher.send(Cancel(run.ask.id))
            run.end(Refusal(503, *_ENDS))
        for waiting in self._lessons.values():
            if not waiting.done():
                waiting.set_exception(Refusal(503, _ENDS[0], "the lesson is in the journal"))

    def close(self) -> None:
        """Stops listening to the teacher."""
        self.stop()
        self._place.events.put(_ENDED)
        if self._pump is not None:
            self._pump.join(timeout=5)

    # ------------------------------------------------------------ answers

    def ask(self, wanted: CompletionRequest) -> Run:
        """Asks; the message is in the journal when this returns. Raises Refusal."""
        if self._closed:
            raise Refusal(503, *_ENDS)
        if len(self._runs) >= MOST:
            raise Refusal(503, f"{MOST} requests wait already", "ask again later", code="busy")
        session = ServedSession(
            self._journal, self._teacher, seed=self._seed if wanted.seed is None else wanted.seed
        )
        settings = replace(
            self._settings,
            candidates=wanted.n,
            temperature=_or(wanted.temperature, self._settings.temperature),
            top_p=_or(wanted.top_p, self._settings.top_p),
            max_tokens=wanted.max_tokens or self._settings.max_tokens,
            offers=False,  # nobody sees that a choice is an offer
        )
        prepare(session, settings, self._drawn)
        session.stops, notes = wanted.stops, list[str]()
        if self.ready.takes_system:
            session.system = wanted.system
        elif wanted.system:
            notes.append("this model has no system prompt: the system message is ignored")
        if wanted.dropped:
            notes.append("answers before the first message are left out")
        run = Run(session, session.ask_after(self._continued(wanted.turns), wanted.turns), notes)
        self._runs[run.ask.id] = run
        for note in notes:
            self._tell(note)
        return run

    def cancel(self, run: Run) -> None:
        """The client is gone or has everything: what still streams is cancelled."""
        if run.ask.id in self._runs:
            self._teacher.send(Cancel(run.ask.id))

    def _continued(self, turns: Turns) -> Ask | None:
        """The ask that was answered here with all turns but the last."""
        number = self._answered.get(_digest(turns[:-1]))
        try:
            return self._journal.ask(number) if number else None
        except NotFound:  # forgotten meanwhile
            return None

    def _remember(self, ask: Ask, answer: str) -> None:
        self._answered[_digest((*ask.turns, Turn("assistant", answer)))] = ask.id
        while len(self._answered) > REMEMBERED:
            self._answered.pop(next(iter(self._answered)))

    # ------------------------------------------------------------ judgements

    async def judge(self, wanted: FeedbackRequest) -> dict[str, object]:
        """Journals a judgement and returns the report of its lesson, when it is learned; at once the number
        of lessons that wait, if the client or the owner's settings want that. Raises Refusal."""
        if self._closed:
            raise Refusal(503, *_ENDS)
        try:
            ask = self._journal.ask(wanted.ask)
        except NotFound as error:
            raise Refusal(404, str(error), param="id") from None
        if ask.id in self._runs:
            raise Refusal(409, f"ask {ask.id} is still being answered", "judge it afterwards")
        session = Session(self._journal, self._teacher, book_path=self._place.home.book_path)
        try:
            judged = teaching.judge(session, ask, wanted.verdict, self._tell, first=0)
        except JournalError:
            raise
        except teaching.NoSuchCandidate as error:
            raise Refusal(400, error.what, error.next_step, param=error.field) from error
        except VidyaError as error:
            raise Refusal(409, error.what, error.next_step) from error
        if not judged:
            what = f"ask {ask.id} was judged so already"
            raise Refusal(409, what, "there is nothing new to learn", code="already_judged")
        if wanted.verdict.text is not None:
            self._remember(ask, session.answer or "")
        lessons = [lesson.id for one in judged for lesson in self._journal.lessons_of(one.id)]
        if not (wanted.wait and lessons and self._settings.learning):
            return teaching.waiting_row(self._journal.waiting_count())
        learned = self._lessons[lessons[0]] = asyncio.get_running_loop().create_future()
        try:
            return teaching.lesson_row(await learned)
        finally:
            del self._lessons[lessons[0]]

    # ------------------------------------------------------------ what the teacher says

    def _hear(self, event: Event) -> None:
        if isinstance(event, LessonDone):
            self._tell(learner_state.lesson_line(event))
            if (waiting := self._lessons.get(event.lesson)) and not waiting.done():
                waiting.set_result(event)
        elif isinstance(event, UndoDone):
            self._tell(event.what)
            self._let_go()
        elif isinstance(event, Understood):
            if words := learner_state.understanding_words(event.understanding):
                self._tell(f"lesson {event.lesson}: {words}")
        elif isinstance(event, ReasonGivenUp):
            if message := StateStore().take(event):
                self._tell(message.text)
        elif isinstance(event, Forgotten):
            self._let_go()
        elif isinstance(event, Failed) and event.ask is None:
            self._tell(f"{event.what}; {event.next_step}")
            if event.where == "learn":
                self._not_learned(event)
            self._let_go()
        elif run := self._runs.get(_ask_of(event) or 0):
            self._hear_of(run, event)

    def _hear_of(self, run: Run, event: Event) -> None:
        try:
            run.session.handle(event)
        except VidyaError as error:  # the journal cannot be written
            self._runs.pop(run.ask.id)
            self._teacher.send(Cancel(run.ask.id))
            run.end(Refusal(500, error.what, error.next_step))
            return
        if isinstance(event, MessageCut):
            run.notes.append(learner_state.cut(event))
            self._tell(run.notes[-1])
            return
        run.begun.set()
        if isinstance(event, CandidateDone):
            run.finished(event)
            if event.candidate.ending != "cancelled":
                self._remember(run.ask, event.candidate.text.strip())
        elif isinstance(event, AskDone):
            run.done = event
            self._runs.pop(run.ask.id)
            run.end()
        elif isinstance(event, Failed):
            self._runs.pop(run.ask.id)
            run.end(Refusal(400 if event.refused else 500, event.what, event.next_step))

    def _not_learned(self, event: Failed) -> None:
        for waiting in self._lessons.values():
            if not waiting.done():
                waiting.set_exception(Refusal(500, event.what, event.next_step))

    def _let_go(self) -> None:
        """Refuses the judgements whose lessons were taken back or erased before they were learned: no event
        comes for these any more."""
        for number, waiting in self._lessons.items():
            if not waiting.done() and (trouble := self._taken_away(number)):
                waiting.set_exception(trouble)

    def _taken_away(self, number: int) -> Refusal | None:
        """Why this lesson will never be learned; None: it waits or is learned."""
        try:
            lesson = self._journal.lesson(number)
            gone = lesson.state == "undone" or lesson in self._journal.to_undo()
        except VidyaError as error:  # erased, or the journal cannot be read
            missing = isinstance(error, NotFound)
            return Refusal(404 if missing else 500, error.what, error.next_step)
        return Refusal(409, *_REPLACED, code="replaced") if gone else None


def _ask_of(event: Event) -> int | None:
    """The ask that an event is about."""
    found = event.candidate.ask if isinstance(event, CandidateDone) else getattr(event, "ask", None)
    return found if isinstance(found, int) else None


def _digest(turns: Turns) -> bytes:
    return hashlib.sha256(json.dumps(turns).encode("ascii")).digest()


def _or(value: float | None, usual: float | None) -> float | None:
    return usual if value is None else value
