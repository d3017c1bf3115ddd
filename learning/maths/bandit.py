"""Bandits: estimates of arms and probabilities to choose them. Arrays in, arrays out.

Notation: R independent runs, K arms; all functions work on [..., K] and never draw by themselves.
Sutton and Barto, Reinforcement Learning, 2nd edition, chapter 2, unless another source is named.
"""

from __future__ import annotations

import torch
from torch import Tensor


def updated_means(estimates: Tensor, chosen: Tensor, rewards: Tensor, rate: Tensor) -> Tensor:
    """Q <- Q + rate (R - Q) for the chosen arm, eq. 2.3 and 2.5.

    estimates: [..., K]; chosen, an index, rewards and rate: [...]. A rate of 1/N, where N counts the choice
    of now, gives sample means; a constant forgets. Returns [..., K].
    """
    at = chosen[..., None]
    old = estimates.gather(-1, at)
    return estimates.scatter(-1, at, old + rate[..., None] * (rewards[..., None] - old))


def upper_confidence(estimates: Tensor, counts: Tensor, step: int, width: float) -> Tensor:
    """Q + c sqrt(ln t / N), infinite for an arm that was never chosen, eq. 2.10.

    counts: [..., K], choices so far; step: t, from 1; width: c. Returns [..., K].
    """
    bonus = width * torch.sqrt(torch.log(torch.tensor(float(step))) / counts)
    return torch.where(counts > 0, estimates + bonus, torch.inf)


def updated_preferences(
    preferences: Tensor, chosen: Tensor, rewards: Tensor, baseline: Tensor, rate: float
) -> Tensor:
    """H <- H + α (R - R̄) (1{a} - π), with π = softmax(H), eq. 2.12.

    baseline: R̄, [...], the mean of earlier rewards without the one of now. Returns [..., K].
    """
    taken = torch.nn.functional.one_hot(chosen, preferences.shape[-1]).to(preferences.dtype)
    advantage = (rewards - baseline)[..., None]
    return preferences + rate * advantage * (taken - preferences.softmax(-1))


def posterior(sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """(mean, standard deviation) of each arm's value after rewards of variance 1, from a prior N(0, 1).

    sums, counts: [..., K], of the rewards so far. Mean Σr / (N + 1), variance 1 / (N + 1). For Thompson
    sampling: draw from it and take the greatest. Thompson, Biometrika 25, 1933.
    """
    return sums / (counts + 1), (counts + 1).rsqrt()


def greedy_choice(estimates: Tensor, noise: Tensor) -> Tensor:
    """Index of the greatest estimate, [...]; ties go to the greatest noise. noise: [..., K], any order."""
    best = estimates == estimates.max(-1, keepdim=True).values
    return torch.where(best, noise, -torch.inf).argmax(-1)


def boltzmann(estimates: Tensor, temperature: float) -> Tensor:
    """Probabilities proportional to exp(Q / τ). Returns [..., K]; temperature > 0."""
    return (estimates / temperature).softmax(-1)


def exp3_probabilities(log_weights: Tensor, exploration: float) -> Tensor:
    """(1 - γ) w / Σw + γ / K. log_weights: [..., K]; exploration: γ, 0 to 1. Auer et al., SIAM J. Comput.
    32, 2002."""
    least = torch.full(log_weights.shape[-1:], exploration / log_weights.shape[-1])
    return with_floor(log_weights.softmax(-1), least)


def with_floor(probabilities: Tensor, least: Tensor) -> Tensor:
    """l + (1 - Σl) p: every arm keeps at least its l, and the order of the rest stays.

    probabilities: [..., K], sum 1; least: [K], >= 0, sum at most 1. Returns [..., K], sum 1.
    """
    return least + (1 - least.sum()) * probabilities


def updated_log_weights(
    log_weights: Tensor, chosen: Tensor, rewards: Tensor, probabilities: Tensor, exploration: float
) -> Tensor:
    """ln w <- ln w + γ r / (p K) for the chosen arm, as exp3_probabilities takes them.

    rewards: [...], -1 to 1; probabilities: [..., K], those that the arm was drawn with. Returns [..., K].
    """
    at, arms = chosen[..., None], log_weights.shape[-1]
    gain = exploration * rewards[..., None] / (probabilities.gather(-1, at) * arms)
    return log_weights.scatter_add(-1, at, gain)


def shared_log_weights(log_weights: Tensor, share: float) -> Tensor:
    """w_i <- (1 - α) w_i + α / (K - 1) Σ_{j != i} w_j, of log-weights: no arm falls so far behind that it
    cannot come back when the rewards change (Exp3.S).

    log_weights: [..., K], K >= 2; share: α, 0 to 1. Returns [..., K], with the largest w near 1. Auer et al.,
    SIAM J. Comput. 32, 2002, section 8, in the form of 1704.03003, section 2.2.
    """
    weights = log_weights.softmax(-1)
    others = (weights.sum(-1, keepdim=True) - weights) / (log_weights.shape[-1] - 1)
    return ((1 - share) * weights + share * others).log()


def rescaled(rewards: Tensor, history: Tensor) -> Tensor:
    """Rewards in units of what is usual: the 20th percentile of the history becomes -1, the 80th 1, and what
    is beyond is cut.

    rewards: [N]; history: [M], M >= 1, in any order. Returns [N] in [-1, 1]; zeros where the two percentiles
    are the same. 1704.03003, section 2.3.
    """
    low, high = torch.quantile(history, torch.tensor([0.2, 0.8], dtype=history.dtype))
    if high <= low:
        return torch.zeros_like(rewards)
    return (2 * (rewards - low) / (high - low) - 1).clamp(-1.0, 1.0)


def slopes(values: Tensor) -> Tensor:
    """Slope of the least-squares line through equally spaced values, per step: [..., T] -> [...], T >= 2."""
    at = torch.arange(values.shape[-1], dtype=values.dtype)
    centred = at - at.mean()
    return (values * centred).sum(-1) / centred.square().sum()
