"""Takes optimizer steps: AdamW, the gradient's norm, the check for finite numbers, the learning rate.

Every loop that learns adds its gradients and then calls `step`. Left out: what the gradients are of,
and pre-training, which mixes two optimizers and skips spikes (learning.pretraining.loop).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from engine.errors import NumericsError

MAX_NORM = 1.0
"""Gradients of a larger norm (over all tensors together) are scaled down to it."""
BETA2 = 0.98
"""Decay of Adam's second moment: about fifty steps, as long as a short training is."""


class Stepper:
    """AdamW without weight decay (1711.05101) on the tensors that a piece of learning moves."""

    def __init__(
        self,
        tensors: Iterable[Tensor],
        lr: float,
        *,
        momentum: float = 0.9,
        what: str = "learning",
        advice: str = "nothing of it is kept; try again",
    ) -> None:
        """lr: the peak rate. momentum: beta1, 0 to 1. what, advice: for the error."""
        self.tensors, self.lr = list(tensors), lr
        self.count = 0
        """Steps taken."""
        self._what, self._advice = what, advice
        self._optimizer = torch.optim.AdamW(
            self.tensors, lr=lr, betas=(momentum, BETA2), weight_decay=0.0, fused=True
        )

    def step(self, loss: float = 0.0, rate: float = 1.0) -> None:
        """One step at `rate` times the peak rate along the gradients that were added, which are
        dropped. Raises NumericsError if the loss or the gradients' norm is not finite; the tensors
        are as before then."""
        norm = torch.nn.utils.clip_grad_norm_(self.tensors, MAX_NORM)
        if not (math.isfinite(loss) and bool(torch.isfinite(norm))):
            self.clear()
            raise NumericsError(f"{self._what}: the loss is not finite", self._advice)
        for group in self._optimizer.param_groups:
            group["lr"] = self.lr * rate
        self._optimizer.step()
        self.clear()
        self.count += 1

    def clear(self) -> None:
        """Drops gradients."""
        self._optimizer.zero_grad(set_to_none=True)
