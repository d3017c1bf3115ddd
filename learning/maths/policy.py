"""Policy gradients on groups of answers: advantages, the clipped surrogate, entropy.

Notation: N prompts, G answers per prompt, L tokens of all answers together. Variants are functions that
the caller passes in. Left out: how log-probabilities are computed (learning.objectives.grpo).
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.shapes import same_shape

SPREAD_FLOOR = 1e-4
"""Added to a group's standard deviation before the division, in units of the reward."""


def standardised_advantages(rewards: Tensor) -> Tensor:
    """A = (r - mean) / (std + 1e-4)  over each group, with the unbiased standard deviation.

    rewards: [N, G], G >= 2. Returns [N, G]; exactly 0 in a dead group. 2402.03300, section 4.1.2.
    Raises ShapeError.
    """
    centred = centred_advantages(rewards)
    return centred / (rewards.std(-1, keepdim=True) + SPREAD_FLOOR)


def centred_advantages(rewards: Tensor) -> Tensor:
    """A = r - mean  over each group, so that nearly solved groups do not weigh more than others.

    rewards: [N, G], G >= 2. Returns [N, G]; exactly 0 in a dead group. arXiv 2503.20783, section 3.2.
    Raises ShapeError.
    """
    if rewards.dim() != 2 or rewards.shape[1] < 2:
        raise ShapeError(
            f"rewards has shape {tuple(rewards.shape)}, [prompts, answers >= 2] is needed"
        )
    centred = rewards - rewards.mean(-1, keepdim=True)
    # in floating point the mean of equal numbers may differ from them
    return centred.masked_fill(dead_groups(rewards)[:, None], 0.0)


def dead_groups(rewards: Tensor) -> Tensor:
    """Groups whose rewards are all exactly equal, so that nothing can be learned: [N, G] -> bool [N]."""
    return (rewards == rewards[:, :1]).all(-1)


def clipped_surrogate(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, low: float, high: float
) -> Tensor:
    """-min(ρ A, clip(ρ, 1 - low, 1 + high) A)  per token, with ρ = π / π_behaviour.

    log_probabilities, behaviour: [L], in nats; advantages: [L]; low, high > 0. Returns [L]. The gradient
    is zero where ρ is already beyond the bound in the direction of the advantage.
    arXiv 1707.06347, eq. 7; two bounds: arXiv 2503.14476, eq. 8. Raises ShapeError if lengths differ.
    """
    same_shape(log_probabilities=log_probabilities, behaviour=behaviour, advantages=advantages)
    ratio = torch.exp(log_probabilities - behaviour)
    return -torch.minimum(ratio * advantages, ratio.clamp(1.0 - low, 1.0 + high) * advantages)


def clipped(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, low: float, high: float
) -> Tensor:
    """Tokens without gradient because of the bounds: bool [L]. Arguments as for `clipped_surrogate`."""
    ratio = torch.exp(log_probabilities - behaviour)
    return ((ratio > 1.0 + high) & (advantages > 0)) | ((ratio < 1.0 - low) & (advantages < 0))


def token_mean(values: Tensor, tokens: int) -> Tensor:
    """Σ values / tokens, where `tokens` counts all active tokens of the *whole accumulated* batch.

    Every token weighs the same, and gradient accumulation does not change the result.
    values: [L], of one micro-batch; tokens >= 1. Returns a scalar. arXiv 2503.14476, eq. 12.
    """
    return values.sum() / tokens


def entropy(logits: Tensor) -> Tensor:
    """-Σ_v p log p  per position, in nats: [..., V] -> [...]."""
    log_probabilities = logits.float().log_softmax(-1)
    return -(log_probabilities.exp() * log_probabilities).sum(-1)
