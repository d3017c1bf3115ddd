"""Shared parts of the failed methods: the protocol, fresh Adam, and the pull back to the book's weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from engine.model import Model
from learning.memory.tasks import LessonTask

LR = 1e-4
"""Learning rate of methods whose rate was not recorded: one at which they learn something."""


class Attempt(Protocol):
    """A method that teaches the model it was created with."""

    def learn(self, lesson: LessonTask) -> float:
        """Changes the weights in place; returns the loss before the last step, 0 if none was made."""
        ...


def fresh_adam(model: Model, lr: float) -> torch.optim.Adam:
    """Adam over all weights with an empty state: its first step moves every weight by lr in the direction
    of the gradient's sign, however small the gradient is."""
    model.requires_grad_(True)
    model.zero_grad(set_to_none=True)
    return torch.optim.Adam(model.parameters(), lr=lr)


def step(optimizer: torch.optim.Optimizer, gradients: Callable[[], float]) -> float:
    """One step with the gradients that `gradients()` adds; returns its loss."""
    loss = gradients()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


class Anchor:
    """Pulls weights back towards the initial ones (L2-SP as a separate step, arXiv 1802.01483)."""

    def __init__(self, model: Model) -> None:
        self._home: list[Tensor] = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def pull(self, model: Model, share: float) -> None:
        """w <- w + share (w_book - w)."""
        for weight, home in zip(model.parameters(), self._home, strict=True):
            weight.lerp_(home, share)
