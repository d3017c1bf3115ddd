"""Gradients of the likelihood and of the KL anchor, accumulated over small micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from engine.model import Model
from learning.data.examples import Example, micro_batches
from learning.objectives.forward import HiddenStates, target_divergences, target_losses
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import MICRO_TOKENS


def likelihood_gradients(
    model: Model | HiddenStates,
    examples: Sequence[Example],
    *,
    weight: float = 1.0,
    weights: Sequence[float] | None = None,
    pause: Callable[[], None] = lambda: None,
    team: ProcessGroup = ALONE,
) -> float:
    """Adds the gradient of weight · (mean negative log-likelihood per target token).

    weights: one factor per example; 1 by default. Returns the loss without `weight`, in nats per token.
    team: processes that share the examples; gradient and loss are then this process's part of the sum.
    """
    total = sum(e.targets for e in examples)
    each = weights if weights is not None else [1.0] * len(examples)
    shares = team.share([weight * (w / total) for w in each])
    return row_gradients(model, team.share(examples), shares, pause=pause) / weight


def row_gradients(
    model: Model | HiddenStates,
    examples: Sequence[Example],
    weights: Sequence[float],
    *,
    pause: Callable[[], None] = lambda: None,
) -> float:
    """Adds the gradient of the sum over rows of weight · (negative log-likelihood of its targets).

    Lets rows of several loss terms share a forward pass. weights: one per row. Returns that sum, in nats.
    """
    loss_sum = 0.0
    for group in micro_batches(examples, MICRO_TOKENS):
        pause()
        nll, rows = target_losses(model, [examples[i] for i in group])
        loss = (nll * torch.tensor([weights[i] for i in group], device=nll.device)[rows]).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        loss_sum += loss.item()
    return loss_sum


def anchor_gradients(
    model: Model | HiddenStates,
    reference: Model | HiddenStates,
    examples: Sequence[Example],
    *,
    weight: float = 1.0,
    pause: Callable[[], None] = lambda: None,
    team: ProcessGroup = ALONE,
) -> float:
    """Adds the gradient of weight · (mean KL(reference || model) per target position).

    The gradient is zero as long as the model equals the reference, so an anchor, unlike replayed text,
    adds no noise of its own. Returns the divergence without `weight`, in nats per position. team: as of
    `likelihood_gradients`.
    """
    total = sum(e.targets for e in examples)
    own = team.share(examples)
    divergence_sum = 0.0
    for group in micro_batches(own, MICRO_TOKENS):
        pause()
        divergences = target_divergences(model, reference, [own[i] for i in group])
        divergence = divergences.sum() / total
        (divergence * weight).backward()
        divergence_sum += divergence.item()
    return divergence_sum
