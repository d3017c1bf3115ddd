"""Takes optimizer steps: AdamW, gradient clipping, the check for finite numbers, the learning rate.

Every training loop accumulates gradients and then calls `step`. Left out: the losses, and pre-training,
which uses two optimizers and skips spikes (learning.pretraining.loop).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from engine.errors import NumericsError
from learning.objectives.processes import ALONE, ProcessGroup

MAX_NORM = 1.0
"""Norm over all tensors together to which gradients are clipped."""
BETA2 = 0.98
"""Decay of Adam's second moment: a window of about fifty steps, the length of a short training."""


class Stepper:
    """AdamW (arXiv 1711.05101) without weight decay on the tensors that are trained."""

    def __init__(
        self,
        tensors: Iterable[Tensor],
        lr: float,
        *,
        ramp: int = 1,
        momentum: float = 0.9,
        what: str = "learning",
        advice: str = "nothing of it is kept; try again",
        team: ProcessGroup = ALONE,
    ) -> None:
        """lr: peak learning rate. ramp: steps in which the rate rises to it linearly, >= 1. momentum: beta1,
        in [0, 1). what, advice: texts for NumericsError. team: the processes that take the same steps, each
        with a part of the gradient."""
        self.tensors, self.lr = list(tensors), lr
        self.count = 0
        """Steps taken."""
        self._ramp, self._what, self._advice, self._team = ramp, what, advice, team
        self._optimizer = torch.optim.AdamW(
            self.tensors, lr=lr, betas=(momentum, BETA2), weight_decay=0.0, fused=True
        )

    def step(self, loss: float = 0.0, rate: float = 1.0) -> float:
        """One step with the accumulated gradients at `rate` times the rate that `ramp` has reached; clears
        the gradients. Gradients and loss are summed over the processes. Returns that loss. Raises
        NumericsError if the loss or the gradient norm is not finite, and changes nothing then."""
        (loss,) = self._team.sum_gradients(self.tensors, loss)
        norm = torch.nn.utils.clip_grad_norm_(self.tensors, MAX_NORM)
        if not (math.isfinite(loss) and bool(torch.isfinite(norm))):
            self.clear()
            raise NumericsError(f"{self._what}: the loss is not finite", self._advice)
        risen = min(1.0, (self.count + 1) / self._ramp)
        for group in self._optimizer.param_groups:
            group["lr"] = self.lr * rate * risen
        self._optimizer.step()
        self.clear()
        self.count += 1
        return loss

    def clear(self) -> None:
        """Clears the gradients."""
        self._optimizer.zero_grad(set_to_none=True)
