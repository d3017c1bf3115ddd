"""Plain LoRA (2106.09685): an adapter per lesson, trained on the answer alone and merged into the weights.

Nothing is replayed and nothing is judged: what most people do who "train on their notes".
"""

from __future__ import annotations

import torch

from benchmarks.baselines.common import step
from engine.lora import LoraSettings, attach
from engine.model import Model
from learning.memory.tasks import LessonTask
from learning.objectives.supervised import likelihood_gradients

RANK, ALPHA = 8, 32.0
STEPS, RATE = 25, 2e-3
GOAL = 0.01
"""Mean loss in nats per token at which a lesson ends."""


class PlainLora:
    """Up to STEPS steps of AdamW on a new adapter of all linear maps per lesson."""

    def __init__(self, model: Model) -> None:
        self._model, self._generator = model, torch.Generator().manual_seed(0)

    def learn(self, lesson: LessonTask) -> float:
        if lesson.answer is None:
            return 0.0
        model, answers, loss = self._model, [lesson.answer], 0.0
        adapters = attach(model, LoraSettings(RANK, ALPHA), self._generator)
        optimizer = torch.optim.AdamW(adapters.parameters(), lr=RATE, weight_decay=0.0)
        for _ in range(STEPS):
            loss = step(optimizer, lambda: likelihood_gradients(model, answers))
            if loss < GOAL:
                break
        adapters.bake()
        model.requires_grad_(True)
        return loss
