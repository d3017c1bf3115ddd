"""Attempt 5: four steps on the lesson; after each, all weights are pulled back towards the book's.

The hope: the pull undoes changes that the lesson did not need. It fails because it undoes all changes alike:
all weights go back by the same share, including those that encode the lesson, while the damage to the book
comes from a few directions in which a small change is already too much. A weak pull loses the book, a
strong one the lessons.
"""

from __future__ import annotations

from benchmarks.baselines.common import LR, Anchor, fresh_adam, step
from engine.model import Model
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

REPEATS = 4


class ElasticSteps:
    """REPEATS steps with fresh Adam, each followed by the pull."""

    def __init__(self, model: Model, pull: float, lr: float = LR) -> None:
        self._model, self._pull, self._lr = model, pull, lr
        self._anchor = Anchor(model)

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        optimizer, loss, answers = fresh_adam(self._model, self._lr), 0.0, [lesson.answer]
        for _ in range(REPEATS):
            loss = step(optimizer, lambda: likelihood_gradients(self._model, answers))
            self._anchor.pull(self._model, self._pull)
        return loss
