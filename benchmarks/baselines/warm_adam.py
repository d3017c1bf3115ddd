"""Attempt 3: one step with the Adam state of the book training.

The hope: the second moments reflect the usual size of gradients, so the step is small where the book is
sensitive. It fails because a weight's second moment measures the variance of the book's gradients, not the
cost of changing the weight. In a network that has learned its book these gradients are nearly zero, so the
normalised step of a lesson is huge; meanwhile the first moments keep pushing towards the book.

The state comes from one pass over the book with a learning rate of 0: the moments fill, no weight changes.
Betas are those of learning.book_training.loop.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from benchmarks.baselines.common import LR, step
from engine.model import Model
from learning.data.examples import Example
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

BETAS = (0.9, 0.98)
BATCH = 32


def adam_after_book(model: Model, book: Sequence[Example], lr: float) -> torch.optim.Adam:
    """Adam with the state of a training on the book; the weights do not change."""
    model.requires_grad_(True)
    model.zero_grad(set_to_none=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=BETAS)
    for start in range(0, len(book), BATCH):
        lines = book[start : start + BATCH]
        step(optimizer, functools.partial(likelihood_gradients, model, lines))
    for group in optimizer.param_groups:
        group["lr"] = lr
    return optimizer


class WarmAdamSteps:
    """One step per lesson; Adam's state carries over from the book and from lesson to lesson."""

    def __init__(self, model: Model, book: Sequence[Example], lr: float = LR) -> None:
        self._model, self._optimizer = model, adam_after_book(model, book, lr)

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        answers = [lesson.answer]
        return step(self._optimizer, lambda: likelihood_gradients(self._model, answers))
