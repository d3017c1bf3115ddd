"""The steps of a run: gradients of a batch, AdamW on A and B, and going back where the loss runs away.

The rate follows the clock, not the steps: it rises over the first 4 % of the time, stays, and falls to 0 over
the last 45 %. Left out: what is measured and written around them (learning.meta_training.run).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from learning.meta_training.feed import Feed, OuterBatch
from learning.meta_training.lesson import plain_gradients, taught_gradients
from learning.meta_training.network import MergedNetwork
from learning.meta_training.settings import MetaSettings

WARM_UP, DECAY = 0.04, 0.45
"""Shares of the time in which the rate rises and falls."""
BETAS = (0.9, 0.98)
SAVE_EVERY = 60.0
"""Seconds between two saves."""
SMOOTHING = 0.9
"""Decay of the running mean of the loss."""
SETTLED = 20
"""From this step on the best mean counts."""
FIRST, EVERY = 5, 20
"""The first steps are reported, then one in so many."""


@dataclass(frozen=True)
class RunClock:
    """The time of a run."""

    seconds: float
    """Its whole duration."""
    began: float = field(default_factory=time.monotonic)

    @property
    def passed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began


@dataclass(frozen=True)
class OuterReport:
    """One step."""

    plain: float
    """Loss of the rows for the untaught weights, in nats: a sum of weighted means."""
    taught: float
    """Loss of the taught weights, the same."""
    norm: float
    """Norm of the gradient of all A and B before it was clipped."""

    @property
    def loss(self) -> float:
        return self.plain + self.taught


def rate_at(through: float) -> float:
    """Share of the highest rate; through: share of the time for steps that has passed, >= 0."""
    warm = min(1.0, through / WARM_UP + 0.02)
    return warm * min(1.0, max(0.0, (1.0 - through) / DECAY))


class OuterLoop:
    """Steps on the factors of a network."""

    def __init__(
        self,
        network: MergedNetwork,
        reference: Tensor,
        settings: MetaSettings,
        say: Callable[[str], None],
    ) -> None:
        """reference: log-probabilities of the base for its own words [M, V]."""
        self._network, self._reference, self._settings = network, reference, settings
        self._say = say
        self._factors = network.factors.all()
        self._optimizer = torch.optim.AdamW(
            self._factors, lr=settings.lr, betas=BETAS, weight_decay=0.0
        )
        self._share = 1.0
        """Of the rate; a third after each time that the loss ran away."""
        self._mean: float | None = None
        self._best = math.inf
        self._kept = [factor.clone() for factor in self._factors]
        self.steps = 0

    def run(
        self, feed: Feed, clock: RunClock, reserve: float, save: Callable[[float], None]
    ) -> None:
        """Steps until `reserve` seconds of the clock are left, or until there were as many as the settings
        allow. save: called about once a minute, with the share of the time that has passed."""
        started = clock.passed
        whole = max(1.0, clock.seconds - reserve - started)
        saved = clock.passed
        most = self._settings.steps
        while (through := (clock.passed - started) / whole) < 1.0:
            if most and self.steps >= most:
                break
            batch, begun = feed.get(), time.monotonic()
            rate = rate_at(through)
            done = self.step(batch, rate)
            self._watch(done)
            if self.steps <= FIRST or self.steps % EVERY == 0:
                self._say(
                    f"step {self.steps}: plain {done.plain:.4f}, taught {done.taught:.4f}, "
                    f"norm {done.norm:.2f}, rate {self._settings.lr * rate * self._share:.1e}, "
                    f"{time.monotonic() - begun:.2f} s"
                )
            if clock.passed - saved > SAVE_EVERY:
                save(through)
                if self._mean is not None and self._mean < 1.5 * self._best + 0.3:
                    self._kept = [factor.clone() for factor in self._factors]
                saved = clock.passed

    def step(self, batch: OuterBatch, rate: float = 1.0) -> OuterReport:
        """One step. rate: share of the settings' rate. Weights stay as they are where loss or gradient is not
        finite."""
        network = self._network
        network.drop_gradients()
        plain = plain_gradients(network, batch.plain, self._reference)
        taught = [taught_gradients(network, one, self._reference) for one in batch.lessons]
        gradients = network.factor_gradients()
        norm = torch.stack([g.square().sum() for g in gradients]).sum().sqrt()
        done = OuterReport(*torch.stack([plain, torch.stack(taught).sum(), norm]).tolist())
        if math.isfinite(done.loss) and math.isfinite(done.norm):
            clip = min(1.0, self._settings.clip / (done.norm + 1e-6))
            for factor, gradient in zip(self._factors, gradients, strict=True):
                factor.grad = gradient.mul_(clip)
            for group in self._optimizer.param_groups:
                group["lr"] = self._settings.lr * rate * self._share
            self._optimizer.step()
            network.merge()
        self.steps += 1
        return done

    def _watch(self, done: OuterReport) -> None:
        """Goes back to the factors of the last save where the loss has run away."""
        before = self._mean
        mean = done.loss if before is None else SMOOTHING * before + (1 - SMOOTHING) * done.loss
        self._mean = mean
        if self.steps > SETTLED:
            self._best = min(self._best, mean)
        if math.isfinite(mean) and mean <= 2.0 * self._best + 0.5:
            return
        self._share /= 3.0
        self._say(
            f"step {self.steps}: loss {done.loss:.3f}; back to the last save, a third of the rate"
        )
        with torch.no_grad():
            for factor, old in zip(self._factors, self._kept, strict=True):
                factor.copy_(old)
        self._optimizer.state.clear()
        self._mean = None
        self._network.merge()
