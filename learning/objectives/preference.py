"""Gradients of preference losses: a chosen answer against rejected ones, and answers to avoid.

The reference's log-probabilities are computed once, with the weights from before the lesson.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.model import Model
from learning.data.examples import Example
from learning.maths.preference import avoidance_loss, dpo_loss
from learning.objectives.forward import HiddenStates, target_losses

BETA = 0.1


def log_probabilities(
    model: Model | HiddenStates, examples: Sequence[Example], half_life: float = math.inf
) -> Tensor:
    """Sum of log p over each example's targets, [N], in nats, with gradient if gradients are enabled.

    half_life: tokens, > 0; a target counts 2^(-n / half_life), n the targets behind it in its example.
    """
    nll, rows = target_losses(model, examples)
    if half_life != math.inf:
        behind = [n for e in examples for n in reversed(range(e.targets))]
        nll = nll * 0.5 ** (torch.tensor(behind, device=nll.device) / half_life)
    return torch.zeros(len(examples), device=nll.device).index_add(0, rows, -nll)


def preference_gradients(
    model: Model | HiddenStates,
    chosen: Example,
    rejected: Sequence[Example],
    reference: Tensor,
    *,
    weight: float = 1.0,
    pause: Callable[[], None] = lambda: None,
) -> float:
    """Adds the gradient of weight · (mean DPO loss of chosen against each rejected).

    reference: [1 + N] log-probabilities of chosen and rejected before the lesson. Uses the mean, because
    one pick among five is one ranking and not four facts. Returns the loss without `weight`, in nats.
    """
    pause()
    policy = log_probabilities(model, [chosen, *rejected])
    n = len(rejected)
    loss = dpo_loss(
        policy[:1].expand(n), policy[1:], reference[:1].expand(n), reference[1:], BETA
    ).mean()
    (loss * weight).backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def avoidance_gradients(
    model: Model | HiddenStates,
    rejected: Sequence[Example],
    reference: Tensor,
    *,
    weight: float = 1.0,
    half_life: float = math.inf,
    pause: Callable[[], None] = lambda: None,
) -> float:
    """Adds the gradient of weight · (mean avoidance loss). reference: [N] log-probabilities before the
    lesson, with the same half-life (`log_probabilities`). Returns the loss without `weight`, in nats."""
    pause()
    loss = avoidance_loss(log_probabilities(model, rejected, half_life), reference, BETA).mean()
    (loss * weight).backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


@torch.no_grad()
def reference_log_probabilities(
    model: Model | HiddenStates, examples: Sequence[Example], half_life: float = math.inf
) -> Tensor:
    """Log-probabilities of the answers before the lesson, [N], in nats, without gradient."""
    return log_probabilities(model, examples, half_life)
