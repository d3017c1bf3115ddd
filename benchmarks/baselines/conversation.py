"""Attempt 7: one step on the gradients of the five turns of a conversation.

The hope: a batch of five is less noisy than a single example. It fails because the batch still has only new
lessons, so the step ignores the book; there are five times fewer steps, so no lesson is known right after it
was taught; and the last turns of a conversation that ends early are never learned.
"""

from __future__ import annotations

from benchmarks.baselines.common import LR, fresh_adam, step
from engine.model import Model
from learning.data.examples import Example
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

TURNS = 5


class ConversationSteps:
    """One step with fresh Adam per TURNS lessons, on the mean of their losses."""

    def __init__(self, model: Model, lr: float = LR, turns: int = TURNS) -> None:
        self._model, self._lr, self._turns = model, lr, turns
        self._waiting: list[Example] = []

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is not None:
            self._waiting.append(lesson.answer)
        if len(self._waiting) < self._turns:
            return 0.0
        loss = step(fresh_adam(self._model, self._lr), self._gradients)
        self._waiting.clear()
        return loss

    def _gradients(self) -> float:
        """Adds the gradients of the mean over lessons of the mean loss per token."""
        share = 1.0 / len(self._waiting)
        return sum(
            share * likelihood_gradients(self._model, [example], weight=share)
            for example in self._waiting
        )
