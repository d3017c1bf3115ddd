"""The student's optimizer steps: batches of the teacher's answers, mixed with book, lessons and own talk.

Changes the model in place. Left out: the teacher, the guard and publication (learning.distillation.run).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from engine.model import Model
from learning.data.examples import micro_batches
from learning.distillation.targets import SoftExample
from learning.maths.distil import top_cross_entropy, top_jsd
from learning.memory.replay import Replay
from learning.memory.retention import MENDING_RATE, Retention
from learning.objectives.forward import CHECK_TOKENS, target_logits
from learning.objectives.settings import MICRO_TOKENS, RetentionSettings
from learning.objectives.stepper import Stepper


@dataclass(frozen=True)
class StudentSettings:
    """Defaults for 10M weights; benchmarks/results/distillation.md has what came of them."""

    lr: float = 5e-4
    """Peak rate of AdamW; falls along a cosine to a tenth."""
    batch: int = 32
    """Answers a step."""
    epochs: int = 4
    """Times that each answer is learned."""
    ramp: int = 20
    """Steps until the full rate."""
    beta: float = 0.0
    """0: cross-entropy to the teacher, whose gradient is that of the forward divergence. Above 0, to 1: that
    generalised Jensen-Shannon divergence (maths.distil.jsd); 1 is the reverse divergence."""
    save_every: int = 100
    """Steps between two save points."""
    keep: RetentionSettings = field(default_factory=lambda: RetentionSettings(talk=0))
    """Own talk is what distillation changes, so it is no anchor here."""


class Student:
    """A model in training on a teacher's answers."""

    def __init__(
        self,
        model: Model,
        answers: Sequence[SoftExample],
        replay: Replay,
        settings: StudentSettings,
        rng: random.Random,
        *,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """`pause` is called before every micro-batch."""
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        self.model, self.settings = model, settings
        self._answers, self._rng, self._pause = list(answers), rng, pause
        self.retention = Retention(model, replay, settings.keep, rng, pause=pause)
        self._stepper = Stepper(
            model.parameters(),
            settings.lr,
            ramp=settings.ramp,
            what="distillation",
            advice="what was saved before is kept; try again",
        )
        self.step_number = 0
        self._order: list[SoftExample] = []

    @property
    def steps(self) -> int:
        """Of the whole run."""
        return math.ceil(len(self._answers) * self.settings.epochs / self.settings.batch)

    def step(self) -> float:
        """One optimizer step. Returns the loss on the answers, in nats a token. Raises NumericsError
        where something is not finite."""
        beta = self.settings.beta
        loss = answer_gradients(self.model, self._next_batch(), beta=beta, pause=self._pause)
        kept = self.retention.gradients(self.model)
        done = self.step_number / max(1, self.steps)
        rate = 0.1 + 0.9 * 0.5 * (1.0 + math.cos(math.pi * done))
        self._stepper.step(loss + kept, rate)
        self.step_number += 1
        return loss

    def mend(self) -> None:
        """One optimizer step on rehearsed examples only (RetentionSettings)."""
        kept = self.retention.gradients(self.model, mending=True)
        self._stepper.step(kept, MENDING_RATE)

    def _next_batch(self) -> list[SoftExample]:
        """Every answer once an epoch, in an order of its own."""
        batch: list[SoftExample] = []
        while len(batch) < min(self.settings.batch, len(self._answers)):
            if not self._order:
                self._order = self._rng.sample(self._answers, len(self._answers))
            batch.append(self._order.pop())
        return batch


def answer_gradients(
    model: Model,
    answers: Sequence[SoftExample],
    *,
    beta: float = 0.0,
    pause: Callable[[], None] = lambda: None,
) -> float:
    """Adds the gradient of the mean loss over all targets of the batch. Returns it, in nats a token.
    beta: see StudentSettings. maths.distil.top_cross_entropy and top_jsd."""
    total, loss_sum = sum(answer.example.targets for answer in answers), 0.0
    for group in micro_batches([answer.example for answer in answers], MICRO_TOKENS):
        pause()
        loss = _losses(model, [answers[i] for i in group], beta).sum() / total
        loss.backward()  # type: ignore[no-untyped-call]
        loss_sum += loss.item()
    return loss_sum


@torch.no_grad()
def answer_loss(
    model: Model, answers: Sequence[SoftExample], *, pause: Callable[[], None] = lambda: None
) -> float:
    """The mean cross-entropy to the teacher, in nats a token, whatever was trained on; 0 for no answers."""
    total, loss_sum = sum(answer.example.targets for answer in answers), 0.0
    for group in micro_batches([answer.example for answer in answers], CHECK_TOKENS):
        pause()
        loss_sum += float(_losses(model, [answers[i] for i in group]).sum())
    return loss_sum / total if total else 0.0


def _losses(model: Model, answers: Sequence[SoftExample], beta: float = 0.0) -> torch.Tensor:
    """[targets of all answers, in order]."""
    logits, _, _ = target_logits(model, [answer.example for answer in answers])
    ids = torch.cat([answer.ids for answer in answers]).to(logits.device)
    probabilities = torch.cat([answer.probabilities for answer in answers]).to(logits.device)
    if beta > 0.0:
        return top_jsd(logits, ids, probabilities, beta)
    return top_cross_entropy(logits, ids, probabilities)
