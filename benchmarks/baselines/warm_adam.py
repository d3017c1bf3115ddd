"""Attempt 3: one step with the Adam state of the training on the book.

Hoped for: the second moments know how large gradients usually are, so the step is small where the
book is sensitive. Fails because they know too little: a weight's second moment says how much the
book's gradients vary there and not what it costs to move it, and in a network that has learned its
book these gradients are nearly zero, so that a lesson looks huge to them; the first moments push on
towards the book in the meantime.

The state is made by one pass over the book in which Adam's rate is 0: its moments fill, no weight
changes. Betas are those of learning.book_training.loop.
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
    """Adam as training on the book leaves it; the weights stay as they are."""
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
    """One step a lesson; Adam's state goes on from the book to lesson after lesson."""

    def __init__(self, model: Model, book: Sequence[Example], lr: float = LR) -> None:
        self._model, self._optimizer = model, adam_after_book(model, book, lr)

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        answers = [lesson.answer]
        return step(self._optimizer, lambda: likelihood_gradients(self._model, answers))
