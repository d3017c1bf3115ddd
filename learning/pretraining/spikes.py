"""Loss spikes: a step whose loss or gradient norm is far above what they have been is not taken.

Both are compared with their running mean and spread (exponential, over the last thirty steps or so),
the norm as its logarithm. Only steps that are taken enter the statistics; after a few refusals in a
row the next step is taken whatever it is, so that a lasting change of the data cannot stop training.
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
        """Standard deviations by which the value lies above the mean; `floor` is the least spread."""
        return (value - self.mean) / max(floor, math.sqrt(self.variance))

    def add(self, value: float, memory: int) -> None:
        self.count += 1
        weight = 1.0 / min(self.count, memory)
        gap = value - self.mean
        self.mean += weight * gap
        self.variance = (1.0 - weight) * (self.variance + weight * gap * gap)


@dataclass
class Spikes:
    """Judges steps. All fields are saved with a checkpoint, so that a resumed run judges alike."""

    threshold: float = 6.0
    """Standard deviations; 0 refuses only what is not finite."""
    warm: int = 50
    """Steps that are always taken at first."""
    memory: int = 30
    """Steps that the statistics remember."""
    patience: int = 5
    """Refusals in a row after which a step is taken."""
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
            # least spreads: 0.05 nats, and a factor of e^0.25; below these nothing is a spike
            far = max(self.loss.above(loss, 0.05), self.norm.above(log_norm, 0.25))
            if far > self.threshold:
                self.refused += 1
                return False
        self.refused = 0
        self.loss.add(loss, self.memory)
        self.norm.add(log_norm, self.memory)
        return True
