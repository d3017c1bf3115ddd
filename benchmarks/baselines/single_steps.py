"""Attempts 1 and 2: one or four steps on the lesson alone, at a small learning rate.

The hope: a rate so small that it harms nothing else but suffices for a short lesson. It fails because there
is no such rate. Fresh Adam moves all weights by lr in the direction of the lesson's few tokens. At 1e-5 even
four steps teach nothing; at larger rates old knowledge is lost before the answer is learned. Nothing in the
step accounts for what the weights are needed for.
"""

from __future__ import annotations

from benchmarks.baselines.common import fresh_adam, step
from engine.model import Model
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients


class SingleSteps:
    """`repeats` steps on the lesson's likelihood, with fresh Adam for each lesson."""

    def __init__(self, model: Model, lr: float, repeats: int = 1) -> None:
        self._model, self._lr, self._repeats = model, lr, repeats

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        optimizer, loss, answers = fresh_adam(self._model, self._lr), 0.0, [lesson.answer]
        for _ in range(self._repeats):
            loss = step(optimizer, lambda: likelihood_gradients(self._model, answers))
        return loss
