"""A control: a random step of the size of a lesson's, in the tensors that a lesson moves.

What it loses is lost by moving at all, and what it gains is no learning. No paper: a control that papers on
editing leave out.
"""

from __future__ import annotations

import torch

from engine.model import Model
from learning.lessons.recipe import TeachSettings
from learning.memory.tasks import LessonTask
from learning.models.trainable import upper_matrices


class RandomStep:
    """One step in a random direction per lesson."""

    def __init__(self, model: Model, size: float) -> None:
        """size: length of the step over all tensors together."""
        self._size, self._generator = size, torch.Generator().manual_seed(0)
        names = upper_matrices(model, TeachSettings().trunk_layers(model.config)).names
        self._tensors = [model.get_parameter(name) for name in names]

    @torch.no_grad()
    def learn(self, lesson: LessonTask) -> float:
        steps = [torch.randn(t.shape, generator=self._generator) for t in self._tensors]
        length = float(torch.stack([s.norm() for s in steps]).norm())
        for tensor, step in zip(self._tensors, steps, strict=True):
            tensor.add_(step, alpha=self._size / length)
        return 0.0
