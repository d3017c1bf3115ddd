"""FT-M (as named in 2401.01286): steps on one MLP's down projection, the loss on the answer's tokens alone.

Its predecessor FT-L (2012.00363) bounds the change; FT-M does not. Nothing is replayed and nothing is judged.
"""

from __future__ import annotations

import torch

from benchmarks.baselines.common import step
from benchmarks.baselines.mlp_memory import down, edited_block
from engine.model import Model
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

STEPS, RATE = 25, 2e-3
"""The steps are those of the paper's code; its rate of 5e-4, for 7B weights, teaches 10M too little."""
GOAL = 0.01
"""Mean loss in nats per token at which a lesson ends, as in that code."""


class OneLayer:
    """Up to STEPS steps of fresh Adam per lesson."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        model, answers, loss = self._model, [lesson.answer], 0.0
        model.requires_grad_(False)
        weight = down(model, edited_block(model)).weight.requires_grad_(True)
        optimizer = torch.optim.Adam([weight], lr=RATE)
        for _ in range(STEPS):
            loss = step(optimizer, lambda: likelihood_gradients(model, answers))
            if loss < GOAL:
                break
        model.requires_grad_(True)
        return loss
