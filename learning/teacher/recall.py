"""Finds the lesson that a question asks for in other words, while the weights are not yet sure of it.

Of the lessons about the same person, the nearest few are found by the model's own hidden states
(learning.memory.features), in a layer below those that lessons move. Recalled is the one whose answer is
likeliest to be wanted: a logistic function of how near it is and of how likely its answer is after the
question under the weights as they are (learning.teacher.relevance, benchmarks/results/recall.md).

A lesson that may be meant is offered: its answer becomes one of the candidates, and the model writes the
others without it. Only answers to the owner use this: what measures the weights never sends a Generate with
`recall` or `offers`. All is kept in memory and nothing is written; what no longer stands in the journal is
never recalled. Left out: how an answer is made of it (learning.teacher.generation).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Model
from learning.journal.contradictions import same_person
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.features import QuestionSpace, question_features
from learning.memory.prefix_cache import LARGE
from learning.memory.tasks import stands_alone
from learning.protocol.records import Lesson
from learning.teacher.relevance import (
    Evidence,
    Weighing,
    answer_logprobs,
    reads_contexts,
)
from learning.text.another import asks_another
from learning.text.asking import fits
from learning.text.normalise import fold
from personality.book import shipped_book_path

NEAREST = 3
"""Lessons whose answers are looked at."""
NEWEST = 5_000
"""Most lessons that can be recalled, the newest."""
BOOK_OF_LARGE = 100
"""Questions of the book that a large model's space is made of; their states take seconds to compute."""
PIECE = 32
"""Questions per pass; an answer waits for one at most."""
LEAST = 0.7
"""A lesson is recalled if it is at least this likely that the question asks for it."""
LEAST_OFFERED = 0.3
"""The same for a lesson that is offered: one of several guesses of a model that does not know the answer is
right less often."""
AT_ONCE = 4
"""Questions whose features are computed for an offer; if more are missing nothing is offered, because the
owner would wait."""


@dataclass(frozen=True)
class Search:
    """Where a kind of model looks for the lesson that a question asks for."""

    pooling: str
    depth: float
    """Layer of the features as a share of the blocks: 0 is the embeddings."""
    floor: float
    """Cosine below which a lesson's answer is not even looked at; -1: all are."""
    weighing: Weighing

    def layer(self, blocks: int) -> int:
        return round(self.depth * blocks)


OWN = Search("mean", 0.0, 0.2, Weighing(bias=1.6, ahead=3.3, answer=0.25, token=1.9))
"""Of vidya's own bases. Fitted at 10M on 54 lessons of lessons_tune.jsonl and of the tuning half of
people.jsonl: 244 questions in other words and 200 untaught ones. The cosine itself, and how likely NOT_KNOWN
is, add nothing to these."""
READER = Search("last", 26 / 30, -1.0, Weighing(bias=0.263, ahead=9.16, answer=0.061, token=0.723))
"""Of models that read contexts. Fitted at 135M (benchmarks.facts.recall_weighing) on 35 such lessons: 203
questions in other words, 194 untaught ones. More than three lessons add nothing to these, nor does by how
much a lesson before it makes the question likelier."""


@dataclass(frozen=True)
class Recalled:
    """A lesson that a question asks for."""

    lesson: Lesson
    likely: float
    """That the question asks for it, 0 to 1."""


class LessonRecall:
    """The lessons of one model as vectors. Thread-safe."""

    def __init__(self, learner: Learner, journal: Journal) -> None:
        self._learner, self._journal = learner, journal
        self._search = READER if reads_contexts(learner.tokenizer) else OWN
        self._lock = threading.Lock()
        self._vectors: dict[str, Tensor] = {}
        """Question -> its features, of the book and of lessons that stand."""
        self._below: list[Tensor] = []
        """The parameters that the features come from."""
        self._mark: object = None
        self._lessons: list[Lesson] = []
        self._exact: dict[str, Lesson] = {}
        """Folded question -> its lesson."""
        self._wanted: list[str] = []
        """The questions of `_lessons`, then those of the book."""
        self._space: QuestionSpace | None = None

    def prepare(self, pause: Callable[[], None] = lambda: None) -> None:
        """Computes what is missing. pause: called between passes, with nothing locked; what it raises
        ends the work, and the next call goes on from there. Raises JournalError."""
        more = True
        while more:
            pause()
            with self._lock:
                more = self._step()

    def find(self, message: str) -> Recalled | None:
        """The lesson that the owner's message asks for; None if there is none, or if the weights have learned
        just this question. Raises JournalError."""
        if not message.strip():
            return None
        with self._lock:
            self._finish()
            return self._likeliest(message, LEAST)

    def offer(self, message: str) -> Recalled | None:
        """The lesson that the owner's message may ask for; None if there is none, if the weights have learned
        just this question, or if finding out would take long. Raises JournalError."""
        if not message.strip() or not self._lock.acquire(blocking=False):
            return None
        try:
            self._refresh()
            if self._space is None:
                if len(self._missing()) > AT_ONCE:
                    return None
                self._finish()
            return self._likeliest(message, LEAST_OFFERED)
        finally:
            self._lock.release()

    def _likeliest(self, message: str, least: float) -> Recalled | None:
        if exact := self._exact.get(fold(message)):
            return None if exact.state == "learned" else Recalled(exact, 1.0)
        found = [
            Recalled(lesson, self._search.weighing.likely(evidence))
            for lesson, evidence in self._evidence(message)
        ]
        best = max(found, key=lambda one: one.likely, default=None)
        return best if best and best.likely >= least else None

    def evidence(self, message: str) -> list[tuple[Lesson, Evidence]]:
        """The lessons that `find` looks at, nearest first, whatever the weights have learned. Raises
        JournalError."""
        with self._lock:
            self._finish()
            return self._evidence(message)

    def _evidence(self, message: str) -> list[tuple[Lesson, Evidence]]:
        if self._space is None:
            return []
        model, tokenizer = self._learner.published.model, self._learner.tokenizer
        cosines = (self._space.whitened(self._features([message])) @ self._space.known.T)[0]
        near = cosines.topk(min(NEAREST + 1, len(cosines)))
        places = [i for i in near.indices.tolist() if i < len(self._lessons)]
        places = [i for i in places if cosines[i] >= self._search.floor]
        places = [i for i in places if _may_be_meant(self._lessons[i], message)]
        places = places[:NEAREST]
        if not places:
            return []
        lessons = [self._lessons[i] for i in places]
        told = answer_logprobs(model, tokenizer, message, [one.answer for one in lessons])
        found = []
        for place, lesson, logprobs in zip(places, lessons, told, strict=True):
            others = [float(cosines[i]) for i in near.indices.tolist() if i != place]
            ahead = float(cosines[place]) - max(others, default=0.0)
            total = sum(logprobs)
            found.append((lesson, Evidence(ahead, total, total / max(1, len(logprobs)))))
        return found

    def _features(self, questions: list[str]) -> Tensor:
        model, search = self._learner.published.model, self._search
        layer = search.layer(model.config.layers)
        return question_features(model, self._learner.tokenizer, questions, layer, search.pooling)

    # ------------------------------------------------------------ what is kept

    def _finish(self) -> None:
        """Computes all that is missing. Without lessons there is no space afterwards."""
        while self._step():
            pass

    def _refresh(self) -> None:
        """Drops what other weights or lessons have made wrong."""
        model = self._learner.published.model
        below = _below(model, self._search.layer(model.config.layers))
        if len(below) != len(self._below) or any(
            now is not was for now, was in zip(below, self._below, strict=True)
        ):
            self._vectors, self._below, self._mark = {}, below, None
        mark = self._journal.lessons_mark()
        if mark != self._mark:
            self._mark, self._space = mark, None
            self._lessons = recallable(self._journal.standing())
            self._exact = {fold(_question(lesson)): lesson for lesson in self._lessons}
            questions = [_question(lesson) for lesson in self._lessons]
            others = self._book(model) if questions else []
            self._wanted = list(dict.fromkeys([*questions, *others]))
            self._vectors = {t: self._vectors[t] for t in self._wanted if t in self._vectors}

    def _missing(self) -> list[str]:
        """Questions whose features are not there yet."""
        return [text for text in self._wanted if text not in self._vectors]

    def _step(self) -> bool:
        """Computes a piece of what is missing. Returns False when nothing was."""
        self._refresh()
        if self._space is not None or not self._lessons:
            return False
        if missing := self._missing()[:PIECE]:
            self._vectors |= dict(zip(missing, self._features(missing), strict=True))
        else:
            known = torch.stack([self._vectors[text] for text in self._wanted])
            self._space = QuestionSpace.of(known)
        return True

    def _book(self, model: Model) -> list[str]:
        """Questions of the shipped book: what is asked for if it is nearer than any lesson."""
        entries = self._learner.caches.books.entries(shipped_book_path())
        found = list(dict.fromkeys(entry.turns[0][1] for entry in entries))
        if model.config.parameters <= LARGE:
            return found
        return found[:: max(1, math.ceil(len(found) / BOOK_OF_LARGE))]


def recallable(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Of lessons that stand, oldest first: those with an answer to a question that makes sense alone, the
    newest of each question, at most NEWEST."""
    latest: dict[str, Lesson] = {}
    for lesson in lessons:
        if not lesson.prompt or not lesson.prompt[-1].text.strip():
            continue
        question = lesson.prompt[-1].text
        latest.pop(
            fold(question), None
        )  # an answer that is only to be avoided ends an earlier one too
        alone = len(lesson.prompt) == 1 or stands_alone(question)
        if lesson.answer and alone:
            latest[fold(question)] = lesson
    return list(latest.values())[-NEWEST:]


def _may_be_meant(lesson: Lesson, message: str) -> bool:
    """Whether nothing in the words of the message speaks against it."""
    question, answer = _question(lesson), lesson.answer
    other = not same_person(question, message) or asks_another(message, question, answer)
    return not other and fits(message, question, answer)


def _question(lesson: Lesson) -> str:
    return lesson.prompt[-1].text


def _below(model: Model, layers: int) -> list[Tensor]:
    """The parameters of the embeddings and of so many blocks, which features come from."""
    return [
        model.embedding.weight,
        *(p for block in list(model.blocks)[:layers] for p in block.parameters()),
    ]
