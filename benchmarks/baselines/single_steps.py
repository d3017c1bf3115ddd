"""Attempts 1 and 2: the lesson alone, one step or four, at a small rate.

Hoped for: a rate so small that nothing else is harmed, and a lesson so short that it is enough.
Fails because there is no such rate: fresh Adam moves all weights by lr wherever the few tokens of
the lesson point, which at 1e-5 is too little to be learned even four times over, and as the rate
grows costs what the weights were holding before it teaches the answer. Nothing in the step knows
what the weights are needed for.
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
