"""Finds the lesson that a question asks for in other words, while the weights are not yet sure of it.

The sentence encoder finds the lessons and lines of the book that are nearest to the question
(learning.memory.lesson_vectors). Of these, only lessons about the same person count (learning.teacher.meant).
Recalled is a lesson that asks for the same thing in another way of its kind (learning.text.kinds). If there
is none, it is the one whose answer is likeliest to be wanted: a logistic function of how near it is and of
how likely its answer is after the question under the weights as they are (learning.teacher.relevance,
benchmarks/results/recall.md), halved where the question is known to be of another kind.

A lesson that may be meant is offered: its answer becomes one of the candidates, and the model writes the
others without it. Where the model knows no answer, the nearest lessons are offered, however unlikely,
unless a line of the book is clearly nearer. Only answers to the owner use this: what measures the weights
never sends a Generate with `recall` or `offers`. What no longer stands in the journal is never recalled.
Left out: the lessons with their vectors (learning.teacher.lesson_index), and how an answer is made of it
(learning.teacher.generation).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.encoder import shipped_encoder
from engine.errors import CheckpointError
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.lesson_vectors import (
    KnownAnswer,
)
from learning.protocol.records import Lesson
from learning.teacher.lesson_index import PIECE, LessonIndex
from learning.teacher.meant import (
    has_its_name,
    may_be_meant,
    may_concern,
    question_of,
    tells_more,
)
from learning.teacher.mentions import Mention, Mentions
from learning.teacher.relevance import (
    Evidence,
    Weighing,
    answer_logprobs,
    reads_contexts,
)
from learning.text.flaws import with_sentences
from learning.text.kinds.recognise import asks_for_another, what_is_asked
from learning.text.kinds.told import asks_or_names
from learning.text.normalise import fold
from learning.text.questions.yes_or_no import asks_yes_or_no, read_out

NEAREST = 3
"""Lessons whose answers are looked at."""
FLOOR = 0.3
"""Cosine below which a lesson's answer is not even looked at."""
NEARBY = 0.45
"""Cosine from which a lesson is offered to a question that the model cannot answer. Chosen on the tuning half
of benchmarks/data/people.jsonl (benchmarks/results/offers.md)."""
BOOK_AHEAD = 0.1
"""A line of the book is meant, and no lesson is offered for being near, if its cosine is greater by more than
this than that of the nearest lesson. Chosen on the same half."""
SAME = 0.7
"""Cosine from which a question for a yes or no is about the same as its nearest lesson."""
READ_OUT = 0.9
"""Likelihood of a yes or no that was read out of such a lesson (benchmarks/results/recall.md)."""
SAME_KIND = 0.95
"""Likelihood of a lesson that asks for the same thing in another way of its kind."""
OTHER_KIND = 0.5
"""Factor of the likelihood where question and lesson are of two known kinds that ask for different things."""
LEAST_OFFERED = 0.3
"""A lesson is offered from this likelihood on. It is low, because a model that does not know the answer
guesses, and one of its guesses is right less often than the lesson."""
AT_ONCE = PIECE
"""Lessons whose vectors are computed while the owner waits, some 50 ms; if more are missing, nothing is
offered or told apart."""
MOST_AT_ONCE = 500
"""The same where a lesson is recalled, up to two seconds. Lines of the book, which are kept, do not count."""
WAIT = 2.0
"""Seconds that an answer with `tell` waits for the vectors of what the owner said."""
PATIENCE = 0.2
"""Seconds for which an answer waits for vectors that another thread computes."""
OWN = Weighing(bias=-4.716, near=6.430, ahead=7.829, answer=0.007, token=0.209)
"""Of vidya's own bases. Fitted at 10M (benchmarks.facts.recall_weighing) on 40 lessons of lessons_tune*.jsonl
and 60 facts of the tuning half of people.jsonl: 580 questions about them, 272 that none of them answers."""
READER = Weighing(bias=-2.774, near=5.409, ahead=7.252, answer=0.004, token=0.901, least=0.8)
"""Of models that read contexts. Fitted at 135M on 20 such lessons and 30 facts: 290 and 212 questions."""


@dataclass(frozen=True)
class Recalled:
    """A lesson that a question asks for."""

    lesson: Lesson
    likely: float
    """That the question asks for it, 0 to 1."""
    said: str = ""
    """Its answer as a yes or no, if the question asks for that."""

    @property
    def answer(self) -> str:
        """What the lesson says to the question."""
        return self.said or self.lesson.answer


class LessonRecall:
    """What can be recalled with one model. Thread-safe."""

    def __init__(
        self, learner: Learner, journal: Journal, tell: Callable[[int], None] | None = None
    ) -> None:
        """tell: called with the number of lessons before an answer waits for the vectors of more than
        MOST_AT_ONCE; without it no answer waits for so many, and nothing is recalled for it. With it an
        answer also waits up to WAIT seconds for what the owner said."""
        self._learner, self._journal, self._tell = learner, journal, tell
        self._closed = threading.Event()
        self._weighing = READER if reads_contexts(learner.tokenizer) else OWN
        self._lock = threading.Lock()
        self._index = LessonIndex(learner, journal)
        self._mentions = Mentions(journal, self._index.texts_of_book, self._index.naming)
        self._waited = ""
        """The last message whose answer waited for what the owner said."""
        self._last: tuple[str, Tensor] | None = None
        """The last message, and the vectors of it and of its sentences, [P, S]."""

    def prepare(self, pause: Callable[[], None] = lambda: None) -> None:
        """Computes what is missing. pause: called between passes, with nothing locked; what it raises
        ends the work, and the next call goes on from there. Raises JournalError; CheckpointError if the
        encoder cannot be read."""
        more = True
        while more:
            pause()
            with self._lock:
                more = self._index.step() or self._mentions.step()

    def close(self) -> None:
        """Ends an answer's wait for vectors."""
        self._closed.set()

    def find(self, message: str) -> Recalled | None:
        """The lesson that the owner's message asks for; None if there is none, if the weights have learned
        just this question, or if finding out would take long (see `tell`) or the encoder cannot be read
        (answers go on without it, and `vidya doctor` says so). Raises JournalError."""
        if not message.strip():
            return None
        with self._lock, contextlib.suppress(CheckpointError):
            self._index.refresh()
            missing = len(self._index.missing(self._index.own))
            exact = fold(message) in self._index.exact
            if missing <= MOST_AT_ONCE or (not exact and self._waits(message, missing)):
                while not self._closed.is_set() and self._index.step():
                    pass
            if exact or self._index.known is not None:
                return self._likeliest(message, self._weighing.least)
        return None

    def _waits(self, message: str, missing: int) -> bool:
        """Whether the answer to a message waits for so many vectors; if so, `tell` is called."""
        if self._tell is None or not asks_or_names(message):
            return False
        self._tell(missing)
        return True

    def offer(self, message: str) -> Recalled | None:
        """The lesson that the owner's message may ask for; None if there is none, if the weights have learned
        just this question, or if finding out would take long. Raises JournalError."""
        with self._soon(message, self._all_ready) as ready:
            if not ready:
                return None
            self._index.finish()
            return self._likeliest(message, LEAST_OFFERED)

    def answers_near(self, message: str) -> dict[str, float]:
        """{folded answer: cosine, -1 to 1, of the message and the nearest lesson that teaches the answer}.
        Only of answers that were taught to English questions alone, never to a greeting or in the book.
        Empty where finding out would take long. Raises JournalError."""
        with self._soon(message, self._lessons_ready) as ready:
            found = dict[str, float]()
            near = self._own_cosines(message).amax(1).tolist() if ready else []
            for place, cosine in enumerate(near):
                answer = self._index.folded[place]
                if answer not in self._index.general:
                    found[answer] = max(cosine, found.get(answer, -1.0))
            return found

    def nearest(self, message: str) -> list[Lesson]:
        """At most NEAREST lessons with different answers, the nearest to the owner's message first. Each
        answers an English question, and may concern the message (`may_concern`). Empty where a line of the
        book is meant, or where the vectors of too many lines and lessons are missing. Raises JournalError."""
        with self._soon(message, self._all_ready) as ready:
            if not ready:
                return []
            self._index.finish()
            cosines = self._own_cosines(message)
            near = cosines.amax(1).tolist()
            places = [place for place, cosine in enumerate(near) if cosine >= NEARBY]
            found = dict[str, Lesson]()
            for place in sorted(places, key=lambda place: -near[place]):
                answer, lesson = self._index.folded[place], self._index.lessons[place]
                if (
                    answer in found
                    or answer in self._index.general
                    or not may_concern(lesson, message)
                ):
                    continue
                certain = bool(found) or has_its_name(lesson, message)
                if not certain and self._book_is_meant(message, cosines[place]):
                    break
                found[answer] = lesson
                if len(found) == NEAREST:
                    break
            return list(found.values())

    def mentioned(self, message: str, said: Sequence[str] = ()) -> list[Mention]:
        """The owner's earlier statements that may answer a message, as `Mentions.find` sorts them; none where
        finding out would take long. said: his messages in this talk. Raises JournalError."""
        with self._soon(message, lambda: self._mentions_ready(message)) as ready:
            return self._mentions.find(message, self._parts(message), said) if ready else []

    def changed(self, message: str, lesson: Lesson | None = None) -> Mention | None:
        """The owner's newer statement, in any talk, that tells a change of the lesson that answers the
        message. lesson: None: the one that teaches just this question. None where there is no lesson or no
        such statement, or where finding out would take long. Raises JournalError."""
        taught = lesson

        def is_ready() -> bool:
            nonlocal taught
            self._index.refresh()
            taught = taught or self._index.exact.get(fold(message))
            return taught is not None and self._mentions_ready(message)

        with self._soon(message, is_ready) as ready:
            if not ready or taught is None:
                return None
            since = self._journal.taught_at(taught.id)
            return self._mentions.changed(message, question_of(taught), taught.answer, since)

    def _own_cosines(self, message: str) -> Tensor:
        """[N, P], of the lessons and the message and its sentences; the vectors are there."""
        if not self._index.own:
            return torch.empty(0, 1)  # nothing is encoded
        return self._index.own_known() @ self._parts(message).T

    def _book_is_meant(self, message: str, lesson: Tensor) -> bool:
        """Whether a line of the book is clearly nearer to what the message asks than this lesson, [P]."""
        if self._index.known is None:
            return False
        asked = int(lesson.argmax())
        book = self._index.known[len(self._index.own) :] @ self._parts(message)[asked]
        return bool((book > lesson[asked] + BOOK_AHEAD).any())

    def _parts(self, message: str) -> Tensor:
        """Vectors, [P, S], of the message and of each of its sentences; the question may be one of them.
        Computed once per message."""
        if self._last is None or self._last[0] != message:
            self._last = (message, shipped_encoder().encode(with_sentences(message)))
        return self._last[1]

    def _asked(self, message: str) -> Tensor:
        """The cosines, [N], of the message and all that is known."""
        return (
            torch.empty(0)
            if self._index.known is None
            else self._index.known @ self._parts(message)[0]
        )

    @contextmanager
    def _soon(self, message: str, is_ready: Callable[[], bool]) -> Iterator[bool]:
        """Whether the vectors that a message needs are there; `is_ready` computes a few that are missing. If
        True, the lock is held. False too where the encoder cannot be read: answers go on without it, and
        `vidya doctor` says so."""
        if not message.strip() or not self._lock.acquire(timeout=PATIENCE):
            yield False
            return
        try:
            try:
                if ready := is_ready():
                    shipped_encoder()  # the message needs it, even if nothing was missing
            except CheckpointError:
                ready = False
            yield ready
        finally:
            self._lock.release()

    def _all_ready(self) -> bool:
        """Whether all lessons and lines of the book have vectors."""
        self._index.refresh()
        return self._ready(self._index.wanted)

    def _lessons_ready(self) -> bool:
        """Whether all lessons have vectors."""
        self._index.refresh()
        return self._ready(self._index.own)

    def _ready(self, wanted: list[KnownAnswer]) -> bool:
        missing = self._index.missing(wanted)
        if len(missing) > AT_ONCE:
            return False
        self._index.add(missing)
        return True

    def _mentions_ready(self, message: str) -> bool:
        """Whether all statements of the owner have vectors. With `tell` the answer to a message waits up to
        WAIT seconds for those of the newest, once, and goes on with them."""
        self._mentions.refresh()
        if len(self._mentions.missing()) <= AT_ONCE:
            self._mentions.step()
            return True
        if self._tell is None:
            return False
        until = time.monotonic() + (0.0 if self._waited == message else WAIT)
        self._waited = message
        while not self._closed.is_set() and time.monotonic() < until and self._mentions.step():
            pass
        return not self._closed.is_set()

    def _likeliest(self, message: str, least: float) -> Recalled | None:
        if exact := self._index.exact.get(fold(message)):
            # the weights do not know a question in capitals
            known = exact.state == "learned" and message.isupper() == question_of(exact).isupper()
            return None if known else Recalled(exact, 1.0)
        if read := self._yes_or_no(message):
            return read
        same = self._index.of_kind.get(what_is_asked(message))
        if same and not tells_more(same, message):
            return Recalled(same, SAME_KIND)
        if named := self._by_other_name(message):
            return Recalled(named, SAME_KIND)
        found = [
            Recalled(lesson, self._weighing.likely(evidence) * _by_kind(message, lesson))
            for lesson, evidence in self._evidence(message)
        ]
        best = max(found, key=lambda one: one.likely, default=None)
        return best if best and best.likely >= least else None

    def _by_other_name(self, message: str) -> Lesson | None:
        """The lesson whose question has the name, where the message has "my wife", or the reverse."""
        self._mentions.refresh()
        for reading in self._mentions.names.readings(message):
            same = self._index.of_kind.get(what_is_asked(reading))
            if lesson := self._index.exact.get(fold(reading), same):
                return lesson
        return None

    def _yes_or_no(self, message: str) -> Recalled | None:
        """The nearest lesson, if the message asks whether it is so."""
        if self._index.known is None or not asks_yes_or_no(message):
            return None
        cosines = self._asked(message)
        place = int(cosines.argmax())
        if place >= len(self._index.lessons) or cosines[place] < SAME:
            return None
        lesson = self._index.lessons[place]
        question = question_of(lesson)
        if asks_yes_or_no(question) or not may_be_meant(lesson, message):
            return None
        said = read_out(message, question, lesson.answer)
        return Recalled(lesson, READ_OUT, said) if said else None

    def evidence(self, message: str) -> list[tuple[Lesson, Evidence]]:
        """The lessons that `find` looks at, nearest first, whatever the weights have learned. Raises
        JournalError."""
        with self._lock:
            self._index.finish()
            return self._evidence(message)

    def _evidence(self, message: str) -> list[tuple[Lesson, Evidence]]:
        if self._index.known is None:
            return []
        model, tokenizer = self._learner.published.model, self._learner.tokenizer
        cosines = self._asked(message)
        near = cosines.topk(min(NEAREST + 1, len(cosines)))
        places = [i for i in near.indices.tolist() if i < len(self._index.lessons)]
        places = [i for i in places if cosines[i] >= FLOOR]
        places = [i for i in places if may_be_meant(self._index.lessons[i], message)]
        places = places[:NEAREST]
        if not places:
            return []
        lessons = [self._index.lessons[i] for i in places]
        told = answer_logprobs(model, tokenizer, message, [one.answer for one in lessons])
        found = []
        for place, lesson, logprobs in zip(places, lessons, told, strict=True):
            others = [float(cosines[i]) for i in near.indices.tolist() if i != place]
            nearness = float(cosines[place])
            ahead = nearness - max(others, default=0.0)
            total = sum(logprobs)
            token = total / max(1, len(logprobs))
            found.append((lesson, Evidence(nearness, ahead, total, token)))
        return found


def _by_kind(message: str, lesson: Lesson) -> float:
    """OTHER_KIND if it is known that the lesson asks for something else, or 1."""
    return OTHER_KIND if asks_for_another(message, question_of(lesson)) else 1.0
