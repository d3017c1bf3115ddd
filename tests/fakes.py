"""Stand-ins that fit the real seams, so that tests of the interface need no model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from learning.journal.journal import Journal
from learning.protocol.compare_events import CompareBegan, CompareDone, ComparedText
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateReset,
    CandidateTexts,
    Checked,
    Event,
    Failed,
    Forgotten,
    LessonDone,
    UndoDone,
    WorkerLost,
)
from learning.protocol.records import Candidate, Ending, TextDelta
from learning.protocol.requests import (
    Cancel,
    Check,
    Compare,
    Forget,
    Generate,
    Keep,
    Learn,
    Probe,
    Request,
    Undo,
)


@dataclass
class _Stream:
    ask: int
    index: int
    text: str
    sent: int = 0
    open: bool = True


@dataclass
class ScriptedTeacher:
    """A teacher that answers every ask with given texts, streamed a few characters at a time.

    Events go to `on_event`, which may be set after the session is built. By default everything is
    streamed at once inside `send`; with `manual=True` nothing comes until `pump`, so that a test
    can do something in between. `Keep` ends the other streams with what they have, `Cancel` all.
    With a journal it also "learns": lessons that wait become learned, `Undo` marks them undone;
    without one it records these requests only.
    """

    texts: Sequence[str]
    """Of candidates 1, 2, ...; may be replaced between asks. An ask for more repeats the last
    with a number behind it."""
    on_event: Callable[[Event], None] | None = None
    manual: bool = False
    journal: Journal | None = None
    chunk: int = 4
    """Characters of one TextDelta."""
    version: int = 1
    requests: list[Request] = field(default_factory=list)
    """Everything that was sent, in order."""
    closed: bool = False
    sure: dict[int, float] = field(default_factory=dict)
    """Candidate -> log-probability of each of its tokens; the default is -0.5."""
    said_at: dict[int, float] = field(default_factory=dict)
    """Number of an answer -> when the owner said what it says back, in seconds since the epoch."""
    recalled: dict[int, int] = field(default_factory=dict)
    """Candidate -> lesson that was recalled for it."""
    unknown: set[str] = field(default_factory=set)
    """Answers that a Check does not find known; all others it does."""
    before: Sequence[str] = ("an old answer", "old one", "old two", "old three")
    after: Sequence[str] = ("a new answer", "old one", "new two", "new three")
    """What a Compare is answered with; none: there are no earlier weights."""
    _streams: list[_Stream] = field(default_factory=list)

    def send(self, request: Request) -> None:
        self.requests.append(request)
        if isinstance(request, Generate):
            for index in range(1, request.n + 1):
                self._streams.append(_Stream(request.ask, index, self._text(index)))
            if not self.manual:
                self.finish()
        elif isinstance(request, Keep):
            self._cancel(request.ask, keep=request.index)
        elif isinstance(request, Cancel):
            self._cancel(request.ask)
        elif isinstance(request, Learn):
            self._learn()
        elif isinstance(request, Undo):
            self._undo(request)
        elif isinstance(request, Check):
            known = tuple(self._knows(probe) for probe in request.probes)
            self._emit(Checked(request.key, known, self.version))
        elif isinstance(request, Compare):
            self._compare(request)
        elif isinstance(request, Forget):
            self._forget(request)

    def close(self) -> None:
        self.closed = True

    def pump(self, rounds: int = 1, only: int | None = None) -> None:
        """One round gives every open stream (or only that index) its next piece, in order."""
        for _ in range(rounds):
            for stream in list(self._streams):
                if stream.open and only in (None, stream.index):
                    self._advance(stream)

    def finish(self) -> None:
        """Streams everything that is still open to its end."""
        while any(stream.open for stream in self._streams):
            self.pump()

    def reset(self, index: int, text: str) -> None:
        """Replaces a candidate of the newest ask, as if it had been a duplicate, by this text."""
        stream = [stream for stream in self._streams if stream.index == index][-1]
        stream.text, stream.sent = text, 0
        self._emit(CandidateReset(stream.ask, index))

    def fail(self, what: str = "out of memory") -> None:
        """The newest ask cannot be answered."""
        ask = self._streams[-1].ask
        for stream in self._streams:
            stream.open = False
        self._emit(Failed("generate", what, "ask again", ask))

    def die(self) -> None:
        """The teacher's process ends in the middle of everything."""
        self._streams.clear()
        self._emit(WorkerLost("killed", restarting=True))

    def sent(self, kind: type) -> list[Request]:
        """The requests of one kind."""
        return [request for request in self.requests if isinstance(request, kind)]

    def _text(self, index: int) -> str:
        if index <= len(self.texts):
            return self.texts[index - 1]
        return f"{self.texts[-1]} {index}" if self.texts else ""

    def _advance(self, stream: _Stream) -> None:
        piece = stream.text[stream.sent : stream.sent + self.chunk]
        stream.sent += len(piece)
        if piece:
            self._emit(CandidateTexts(stream.ask, (TextDelta(stream.index, piece),)))
        if stream.sent >= len(stream.text) and stream.open:
            self._end(stream, "end")

    def _end(self, stream: _Stream, ending: Ending) -> None:
        stream.open = False
        text = stream.text[: stream.sent]
        tokens = tuple(range(100, 100 + len(text.split())))
        logprob = self.sure.get(stream.index, -0.5)
        logprobs = tuple(logprob for _ in tokens)
        sure = round(math.exp(logprob), 2) if tokens else None
        done = (stream.ask, stream.index, text, tokens, logprobs, ending, self.version, sure)
        lesson, said_at = self.recalled.get(stream.index), self.said_at.get(stream.index)
        self._emit(CandidateDone(Candidate(*done), lesson, said_at))
        if not any(other.open for other in self._streams if other.ask == stream.ask):
            self._emit(AskDone(stream.ask, tokens_per_second=100.0, seconds_to_first_token=0.1))

    def _cancel(self, ask: int, keep: int | None = None) -> None:
        for stream in list(self._streams):
            if stream.ask == ask and stream.open and stream.index != keep:
                self._end(stream, "cancelled")

    def _learn(self) -> None:
        for lesson in self.journal.waiting() if self.journal else []:
            assert self.journal is not None
            self.journal.set_lesson_state(lesson.id, "learned")
            self.version += 1
            self._emit(
                LessonDone(
                    lesson=lesson.id,
                    kind=lesson.kind,
                    known_before=False,
                    known_after=True,
                    steps=1,
                    batch=32,
                    loss=0.1,
                    book_recall=1.0,
                    seconds=0.1,
                    rolled_back=False,
                    version=self.version,
                )
            )

    def _undo(self, request: Undo) -> None:
        if self.journal is None:
            return
        last = self.journal.last_lesson()
        number = request.lesson or (last.id if last else None)
        if number is not None:
            self.journal.set_lesson_state(number, "undone")
            self.version += 1
        what = f"lesson {number} taken back" if number else "nothing to undo"
        self._emit(UndoDone(number, what, self.version))

    def _knows(self, probe: Probe) -> bool:
        return (probe.answer or probe.rejected[0]) not in self.unknown

    def _compare(self, request: Compare) -> None:
        key = request.key
        if not self.before:
            self._emit(CompareDone(key, "no weights from before it are left", "teach on"))
            return
        kept = tuple(range(self.version - 1, -1, -1))
        version = kept[0] if request.version is None else request.version
        self._emit(CompareBegan(key, version, self.version, kept, 1))
        for index, text in enumerate(self.before[: request.n], 1):
            self._emit(ComparedText(key, "before", (TextDelta(index, text),)))
        for index, text in enumerate(self.after[: request.n], 1):
            self._emit(ComparedText(key, "after", (TextDelta(index, text),)))
        self._emit(CompareDone(key))

    def _forget(self, request: Forget) -> None:
        assert self.journal is not None
        records = self.journal.forget(conversation=request.conversation)
        self._emit(Forgotten(request.conversation, records, 0))

    def _emit(self, event: Event) -> None:
        if self.on_event is not None:
            self.on_event(event)
