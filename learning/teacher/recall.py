"""Finds the lesson that a question asks for in other words, while the weights are not yet sure of it.

Of the lessons about the same person, the nearest few are found by the model's own hidden states
(learning.memory.features), in a layer below those that lessons move. Recalled is the one whose answer is
likeliest to be wanted: a logistic function of how near it is and of how likely its answer is after the
question under the weights as they are (benchmarks/results/recall.md).

Only answers to the owner use this: what measures the weights never sends a Generate with `recall`. All is
kept in memory and nothing is written; what no longer stands in the journal is never recalled. Left out: how
an answer is made of it (learning.teacher.generation).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.generate import prefill
from engine.model import Model
from engine.packed import packed
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.contradictions import same_person
from learning.journal.journal import Journal
from learning.lessons.learner import Learner
from learning.memory.features import QuestionSpace, question_features
from learning.memory.prefix_cache import LARGE
from learning.memory.tasks import stands_alone
from learning.protocol.records import Lesson
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
FLOOR = 0.2
"""Cosine below which a lesson's answer is not even looked at."""


@dataclass(frozen=True)
class Weighing:
    """Logistic regression: how likely a lesson is what a question asks for."""

    bias: float
    ahead: float
    """Per cosine by which its question is nearer, in the whitened space, than the nearest other one."""
    answer: float
    """Per nat of the answer's log-probability after the question, without the lesson in the prompt."""
    token: float
    """Per nat of the mean log-probability of the answer's tokens."""

    def likely(self, evidence: Evidence) -> float:
        """0 to 1."""
        z = self.bias + self.ahead * evidence.ahead
        z += self.answer * evidence.answer + self.token * evidence.token
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))


@dataclass(frozen=True)
class Evidence:
    """What speaks for a lesson; see Weighing."""

    ahead: float
    answer: float
    token: float


WEIGHING = Weighing(bias=1.6, ahead=3.3, answer=0.25, token=1.9)
"""Fitted at 10M on 54 lessons of lessons_tune.jsonl and of the tuning half of people.jsonl: 244 questions in
other words and 200 untaught ones. The cosine itself, and how likely NOT_KNOWN is, add nothing to these."""


@dataclass(frozen=True)
class Recalled:
    """A lesson that a question asks for."""

    lesson: Lesson
    likely: float
    """That the question asks for it, 0 to 1."""


def layer_of(blocks: int) -> int:
    """The layer in which questions that mean the same lie closest: the embeddings of a small model, a quarter
    of the way up in a deep one. Of paraphrases, layer 0 of the 10M has 38 % nearest to their lesson and layer
    5 has 27 %; layer 8 of the 135M has 55 %, layer 0 37 % and layer 30 50 %."""
    return 0 if blocks < 12 else round(blocks * 8 / 30)


class LessonRecall:
    """The lessons of one model as vectors. Thread-safe."""

    def __init__(self, learner: Learner, journal: Journal) -> None:
        self._learner, self._journal = learner, journal
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
            while self._step():
                pass
            if self._space is None:
                return None
            published, tokenizer = self._learner.published, self._learner.tokenizer
            if exact := self._exact.get(fold(message)):
                return None if exact.state == "learned" else Recalled(exact, 1.0)
            layer = layer_of(published.model.config.layers)
            asked = question_features(published.model, tokenizer, [message], layer)
            cosines = (self._space.whitened(asked) @ self._space.known.T)[0]
            near = cosines.topk(min(NEAREST + 1, len(cosines)))
            count = len(self._lessons)
            places = [i for i in near.indices.tolist() if i < count and cosines[i] >= FLOOR]
            near_ones = [(i, _question(self._lessons[i])) for i in places]
            places = [i for i, question in near_ones if same_person(question, message)][:NEAREST]
            if not places:
                return None
            answers = [self._lessons[i].answer for i in places]
            told = answer_logprobs(published.model, tokenizer, message, answers)
            found = []
            for place, logprobs in zip(places, told, strict=True):
                others = [float(cosines[i]) for i in near.indices.tolist() if i != place]
                ahead = float(cosines[place]) - max(others, default=0.0)
                total = sum(logprobs)
                mean = total / max(1, len(logprobs))
                evidence = Evidence(ahead, total, mean)
                found.append(Recalled(self._lessons[place], WEIGHING.likely(evidence)))
        best = max(found, key=lambda one: one.likely)
        return best if best.likely >= LEAST else None

    # ------------------------------------------------------------ what is kept

    def _step(self) -> bool:
        """Computes a piece of what is missing. Returns False when nothing was."""
        model = self._learner.published.model
        below = _below(model)
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
        if self._space is not None or not self._lessons:
            return False
        missing = [text for text in self._wanted if text not in self._vectors][:PIECE]
        if missing:
            layer = layer_of(model.config.layers)
            rows = question_features(model, self._learner.tokenizer, missing, layer)
            self._vectors |= dict(zip(missing, rows, strict=True))
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


@torch.inference_mode()
def answer_logprobs(
    model: Model, tokenizer: Tokenizer, message: str, answers: Sequence[str]
) -> list[list[float]]:
    """Log-probability, in nats, of each token of each answer, its end included, after the message alone."""
    bodies = [[*tokenizer.encode(text), tokenizer.chat.end] for text in answers]
    context = model.config.context
    bodies = [body[: context // 2] for body in bodies]
    width = max(map(len, bodies))
    fast = packed(model)
    ids = encode_prompt(tokenizer, [("user", message)], context, width)
    cache, first = prefill(fast, ids, width)
    start = first.log_softmax(-1)
    rows = torch.full((len(bodies), width - 1), tokenizer.chat.end, device=model.device)
    for row, body in zip(rows, bodies, strict=True):
        row[: len(body) - 1] = torch.tensor(body[:-1])
    found = [[float(start[0, body[0]])] for body in bodies]
    if width > 1:
        hidden = fast.hidden_states(rows, cache=cache.expand(len(bodies)))
        logits = fast.logits(hidden).float().log_softmax(-1)
        for place, body in enumerate(bodies):
            found[place] += [float(logits[place, at, token]) for at, token in enumerate(body[1:])]
    return found


def _question(lesson: Lesson) -> str:
    return lesson.prompt[-1].text


def _below(model: Model) -> list[Tensor]:
    """The parameters of the layers that features come from."""
    layers = layer_of(model.config.layers)
    return [
        model.embedding.weight,
        *(p for block in list(model.blocks)[:layers] for p in block.parameters()),
    ]
