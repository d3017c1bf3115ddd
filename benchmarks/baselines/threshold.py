"""Attempt 4: steps on the lesson only while its loss is above a threshold.

The hope: a lesson that is nearly known costs nothing. It fails because at a mean loss of 1.5 nats per token
a lesson is far from known: greedy decoding still gives another answer, and the method stops there. The steps
that it takes do the same damage as in attempt 1.
"""

from __future__ import annotations

from benchmarks.baselines.common import LR, fresh_adam
from engine.model import Model
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

THRESHOLD = 1.5
"""Nats per token."""
REPEATS = 4
"""Most steps per lesson."""


class ThresholdSteps:
    """Up to REPEATS steps, each only if the loss is above the threshold."""

    def __init__(self, model: Model, threshold: float = THRESHOLD, lr: float = LR) -> None:
        self._model, self._threshold, self._lr = model, threshold, lr

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        optimizer, stepped = fresh_adam(self._model, self._lr), 0.0
        for _ in range(REPEATS):
            loss = likelihood_gradients(self._model, [lesson.answer])
            if loss <= self._threshold:
                break
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            stepped = loss
        self._model.zero_grad(set_to_none=True)
        return stepped
