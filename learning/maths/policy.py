"""Policy gradients on groups of answers: advantages, the clipped surrogate, entropy.

Notation: N prompts, G answers per prompt, L tokens of all answers together. Variants are functions that
the caller passes in. Left out: how log-probabilities are computed (learning.objectives.grpo).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.shapes import same_shape

SPREAD_FLOOR = 1e-4
"""Added to a group's standard deviation before the division, in units of the reward."""
LARGEST = 20.0
"""Log-ratios are clamped to this, so that the exponential stays finite and infinity times 0 cannot occur."""


def standardised_advantages(rewards: Tensor) -> Tensor:
    """A = (r - mean) / (std + 1e-4)  over each group, with the unbiased standard deviation.

    rewards: [N, G], G >= 2; NaN where an answer has none. Returns [N, G]; exactly 0 in a dead group and
    where there is no reward. 2402.03300, section 4.1.2. Unbiased: a pair gets +-0.707, not +-1. Raises
    ShapeError.
    """
    centred = centred_advantages(rewards)
    count = (~rewards.isnan()).sum(-1, keepdim=True)
    deviation = (centred.square().sum(-1, keepdim=True) / (count - 1).clamp(min=1)).sqrt()
    return centred / (deviation + SPREAD_FLOOR)


def centred_advantages(rewards: Tensor) -> Tensor:
    """A = r - mean  over each group, so that nearly solved groups do not weigh more than others.

    rewards: [N, G], G >= 2; NaN where an answer has none. Returns [N, G]; exactly 0 in a dead group and
    where there is no reward. arXiv 2503.20783, section 3.2. Raises ShapeError.
    """
    if rewards.dim() != 2 or rewards.shape[1] < 2:
        raise ShapeError(
            f"rewards has shape {tuple(rewards.shape)}, [prompts, answers >= 2] is needed"
        )
    centred = rewards - rewards.nanmean(-1, keepdim=True)
    # in floating point the mean of equal numbers may differ from them
    return centred.masked_fill(dead_groups(rewards)[:, None] | rewards.isnan(), 0.0)


def batch_advantages(rewards: Tensor) -> Tensor:
    """A = (r - group mean) / (s + 1e-4)  with s the deviation of all centred rewards of the batch.

    For continuous rewards: their groups are never dead, and a group whose rewards hardly differ keeps
    small advantages instead of being blown up to full size. Arguments as for `centred_advantages`; s is
    over the groups that are not dead, each taking one degree of freedom. 2501.03262 (REINFORCE++).
    """
    centred, there = centred_advantages(rewards), ~rewards.isnan()
    live = ~dead_groups(rewards)
    freedom = (there[live].sum() - live.sum()).clamp(min=1)
    return centred / ((centred.square().sum() / freedom).sqrt() + SPREAD_FLOOR)


def dead_groups(rewards: Tensor) -> Tensor:
    """Groups whose rewards are all exactly equal, so that nothing can be learned: [N, G] -> bool [N]. NaN:
    an answer has none. A group with fewer than two rewards is dead."""
    there = ~rewards.isnan()
    highest = rewards.masked_fill(~there, -torch.inf).amax(-1)
    lowest = rewards.masked_fill(~there, torch.inf).amin(-1)
    return (highest == lowest) | (there.sum(-1) < 2)


Ratio = Callable[[Tensor, Tensor], Tensor]
"""(log π - log π_behaviour [L], number of each token's answer [L]) -> ratio of each token [L]."""


def token_ratio(log_ratio: Tensor, answer: Tensor) -> Tensor:
    """ρ_t = π(t) / π_behaviour(t)  of each token on its own: [L] -> [L]. 1707.06347."""
    return log_ratio.clamp(max=LARGEST).exp()


def sequence_ratio(log_ratio: Tensor, answer: Tensor) -> Tensor:
    """s = (π(a) / π_behaviour(a))^(1/|a|)  of the whole answer, for each of its tokens.

    log_ratio: [L], of whole answers; answer: [L], whole numbers >= 0. Returns [L]. The value is the
    answer's, the gradient of each token its own (GSPO-token, 2507.18071, eq. 14 and 15).
    """
    size = int(answer.max()) + 1 if len(answer) else 0
    still = log_ratio.detach()
    total = torch.zeros(size, dtype=still.dtype, device=still.device).index_add(0, answer, still)
    mean = total / torch.bincount(answer, minlength=size).clamp(min=1)
    return (mean[answer] + (log_ratio - still)).clamp(max=LARGEST).exp()


def bounded_surrogate(
    ratio: Tensor, advantages: Tensor, low: float, high: float, dual: float = math.inf
) -> Tensor:
    """-min(ρ A, clip(ρ, 1 - low, 1 + high) A)  per token; with A < 0 never more than -dual A.

    ratio, advantages: [L]; low, high > 0; dual > 1 + high: the dual clip, which bounds what one token
    that became much likelier since it was drawn can cost (1912.09729, eq. 5). Returns [L]. Raises
    ShapeError if lengths differ.
    """
    same_shape(ratio=ratio, advantages=advantages)
    ratio = torch.where(advantages < 0, ratio.clamp(max=dual), ratio)
    return -torch.minimum(ratio * advantages, ratio.clamp(1.0 - low, 1.0 + high) * advantages)


def out_of_bounds(
    ratio: Tensor, advantages: Tensor, low: float, high: float, dual: float = math.inf
) -> Tensor:
    """Tokens without gradient because of the bounds: bool [L]. Arguments as for `bounded_surrogate`."""
    above = (ratio > 1.0 + high) & (advantages > 0)
    below = ((ratio < 1.0 - low) | (ratio > dual)) & (advantages < 0)
    return above | below


def clipped_surrogate(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, low: float, high: float
) -> Tensor:
    """-min(ρ A, clip(ρ, 1 - low, 1 + high) A)  per token, with ρ = π / π_behaviour.

    log_probabilities, behaviour: [L], in nats; advantages: [L]; low, high > 0. Returns [L]. The gradient
    is zero where ρ is already beyond the bound in the direction of the advantage.
    arXiv 1707.06347, eq. 7; two bounds: arXiv 2503.14476, eq. 8. Raises ShapeError if lengths differ.
    """
    same_shape(log_probabilities=log_probabilities, behaviour=behaviour, advantages=advantages)
    ratio = (log_probabilities - behaviour).clamp(max=LARGEST).exp()
    return bounded_surrogate(ratio, advantages, low, high)


def clipped(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, low: float, high: float
) -> Tensor:
    """Tokens without gradient because of the bounds: bool [L]. Arguments as for `clipped_surrogate`."""
    ratio = (log_probabilities - behaviour).clamp(max=LARGEST).exp()
    return out_of_bounds(ratio, advantages, low, high)


def token_mean(values: Tensor, tokens: int) -> Tensor:
    """Σ values / tokens, where `tokens` counts all active tokens of the *whole accumulated* batch.

    Every token weighs the same, and gradient accumulation does not change the result.
    values: [L], of one micro-batch; tokens >= 1. Returns a scalar. arXiv 2503.14476, eq. 12.
    """
    return values.sum() / tokens


def entropy(logits: Tensor) -> Tensor:
    """-Σ_v p log p  per position, in nats: [..., V] -> [...]. Logits may be -inf."""
    return torch.special.entr(logits.float().softmax(-1)).sum(-1)
