"""Detects loss spikes: a step with an unusually high loss or gradient norm is skipped.

Loss and log gradient norm are compared with their exponential running mean and standard deviation over
about the last 30 steps. Only steps that are taken enter the statistics. After `patience` refusals in a
row the next step is taken in any case, so that a lasting change of the data cannot stop training.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Running:
    """Exponential mean and variance of a number."""

    mean: float = 0.0
    variance: float = 0.0
    count: int = 0

    def above(self, value: float, floor: float) -> float:
        """Standard deviations by which the value exceeds the mean. floor: smallest standard deviation."""
        return (value - self.mean) / max(floor, math.sqrt(self.variance))

    def add(self, value: float, memory: int) -> None:
        self.count += 1
        weight = 1.0 / min(self.count, memory)
        gap = value - self.mean
        self.mean += weight * gap
        self.variance = (1.0 - weight) * (self.variance + weight * gap * gap)


@dataclass
class Spikes:
    """Decides which steps to take. Saved with the checkpoint, so that a resumed run decides alike."""

    threshold: float = 6.0
    """Standard deviations above the mean that make a spike; 0 refuses only steps that are not finite."""
    warm: int = 50
    """Number of first steps that are always taken."""
    memory: int = 30
    """Window of the running statistics, in steps."""
    patience: int = 5
    """Refusals in a row after which a step is taken in any case."""
    refused: int = 0
    """Refusals since the last step that was taken."""
    broken: int = 0
    """Steps in a row that were not finite."""
    loss: Running = field(default_factory=Running)
    norm: Running = field(default_factory=Running)

    def accept(self, loss: float, norm: float) -> bool:
        """Whether to take a step with this loss (nats) and gradient norm (before clipping)."""
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self.broken += 1
            return False
        self.broken = 0
        log_norm = math.log(max(norm, 1e-12))
        if self.threshold and self.loss.count >= self.warm and self.refused < self.patience:
            # smallest standard deviations: 0.05 nats for the loss, a factor of e^0.25 for the norm
            far = max(self.loss.above(loss, 0.05), self.norm.above(log_norm, 0.25))
            if far > self.threshold:
                self.refused += 1
                return False
        self.refused = 0
        self.loss.add(loss, self.memory)
        self.norm.add(log_norm, self.memory)
        return True
