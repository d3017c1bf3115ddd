"""What all attempts share: the protocol, fresh Adam, and the pull back to the book's weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from engine.model import Model
from learning.memory.tasks import LessonTask

LR = 1e-4
"""Of the attempts for which no rate was recorded: the one at which something was learned."""


class Attempt(Protocol):
    """Teaches the model that it was made with."""

    def learn(self, lesson: LessonTask) -> float:
        """Changes the weights in place; returns the loss before the last step, 0 if none was made."""
        ...


def fresh_adam(model: Model, lr: float) -> torch.optim.Adam:
    """Adam over all weights without a past: its first step moves every weight by lr, whichever way
    the gradient's sign points and however small it is."""
    model.requires_grad_(True)
    model.zero_grad(set_to_none=True)
    return torch.optim.Adam(model.parameters(), lr=lr)


def step(optimizer: torch.optim.Optimizer, gradients: Callable[[], float]) -> float:
    """One step along what `gradients` adds; returns the loss that it returns."""
    loss = gradients()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


class Anchor:
    """The weights that are pulled back to (L2-SP as a step of its own, 1802.01483)."""

    def __init__(self, model: Model) -> None:
        self._home: list[Tensor] = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def pull(self, model: Model, share: float) -> None:
        """w <- w + share (w_book - w)."""
        for weight, home in zip(model.parameters(), self._home, strict=True):
            weight.lerp_(home, share)
