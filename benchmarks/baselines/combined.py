"""Attempt 8: methods 2 to 7 together. The hope: each makes up for what the others lack.

The turns of a conversation whose loss is above the threshold are learned in four steps, by likelihood and
contrast, with the Adam state of the book training, each step followed by the elastic pull.
It fails like its parts: none puts old knowledge into the batch, so none can tell whether a step damages the
book.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.baselines.common import LR, Anchor, step
from benchmarks.baselines.conversation import TURNS
from benchmarks.baselines.elastic import REPEATS
from benchmarks.baselines.preference import PULL, against, backward, contrast
from benchmarks.baselines.threshold import THRESHOLD
from benchmarks.baselines.warm_adam import adam_after_book
from engine.model import Model
from learning.data.examples import Example
from learning.memory.tasks import LessonTask
from learning.objectives.forward import knowledge
from learning.objectives.supervised import likelihood_gradients


class Combined:
    """Takes its steps after every TURNS lessons."""

    def __init__(self, model: Model, book: Sequence[Example], lr: float = LR) -> None:
        self._model = model
        self._optimizer = adam_after_book(model, book, lr)
        self._anchor = Anchor(model)
        self._waiting: list[LessonTask] = []

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is not None:
            self._waiting.append(lesson)
        if len(self._waiting) < TURNS:
            return 0.0
        lessons = [task for task in self._waiting if _loss(self._model, task) > THRESHOLD]
        pairs = [pair for task in lessons if (pair := against(self._model, task))]
        self._waiting.clear()
        loss = 0.0
        for _ in range(REPEATS if pairs else 0):
            loss = step(self._optimizer, lambda: self._gradients(pairs))
            self._anchor.pull(self._model, PULL)
        return loss

    def _gradients(self, pairs: Sequence[Sequence[Example]]) -> float:
        """Adds the gradients of the mean of (likelihood + contrast); returns that loss."""
        loss, share = 0.0, 1.0 / len(pairs)
        for pair in pairs:
            loss += share * likelihood_gradients(self._model, pair[:1], weight=share)
            loss += backward(share * contrast(self._model, pair))
        return loss


def _loss(model: Model, task: LessonTask) -> float:
    """Loss of the lesson in nats per token."""
    (item,) = knowledge(model, [task.example])
    return item.nll / item.tokens
