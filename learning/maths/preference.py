"""Preference losses on answers: of policies (log-probabilities, sums over an answer's tokens, in nats) and of
reward models (rewards in units of log-odds), with the calibration of the latter."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import ShapeError
from learning.maths.shapes import same_shape


def dpo_loss(
    chosen: Tensor,
    rejected: Tensor,
    reference_chosen: Tensor,
    reference_rejected: Tensor,
    beta: float,
) -> Tensor:
    """Direct preference optimisation  -log σ(β [(π_c - ref_c) - (π_r - ref_r)])  per pair.

    All tensors: [N] log-probabilities; the reference is the frozen policy from before the lesson.
    beta > 0. Returns [N]; ln 2 if policy and reference agree. arXiv 2305.18290, eq. 7.
    Raises ShapeError if lengths differ.
    """
    same_shape(
        chosen=chosen,
        rejected=rejected,
        reference_chosen=reference_chosen,
        reference_rejected=reference_rejected,
    )
    return bradley_terry_loss(
        beta * (chosen - reference_chosen), beta * (rejected - reference_rejected)
    )


def avoidance_loss(policy: Tensor, reference: Tensor, beta: float) -> Tensor:
    """-log σ(-β (π - ref))  per answer: pushes an unwanted answer below its reference probability.

    policy, reference: [N] log-probabilities; beta > 0. Returns [N]; ln 2 if they agree, falling towards 0
    as the answer becomes unlikely, so that the gradient vanishes. Negative preference optimisation,
    arXiv 2404.05868, eq. 3 (without the factor 2/β). Raises ShapeError if lengths differ.
    """
    same_shape(policy=policy, reference=reference)
    return -F.logsigmoid(-beta * (policy - reference))


def luce_loss(rewards: Tensor, chosen: Tensor, offered: Tensor | None = None) -> Tensor:
    """-log softmax(r)[chosen]  per choice among K: one pick is one fact, not K - 1 pairs.

    rewards: [N, K]; chosen: [N], indices; offered: bool [N, K], False where a choice had fewer answers.
    Returns [N]; ln K if all rewards are equal. Luce, Individual Choice Behavior, 1959; 2203.02155 has the
    pairs. Raises ShapeError.
    """
    if rewards.dim() != 2 or chosen.shape != rewards.shape[:1]:
        raise ShapeError(
            f"rewards {tuple(rewards.shape)} and chosen {tuple(chosen.shape)}: [N, K] and [N] are needed"
        )
    if offered is not None:
        rewards = rewards.masked_fill(~offered, float("-inf"))
    return F.cross_entropy(rewards, chosen, reduction="none")


def bradley_terry_loss(chosen: Tensor, rejected: Tensor, margin: float = 0.0) -> Tensor:
    """-log σ(r_c - r_r - m)  per pair.

    chosen, rejected: [N] rewards; margin: m >= 0. Returns [N]; ln 2 for equal rewards and no margin, with
    gradient -1/2 and 1/2. Bradley and Terry, Biometrika 39, 1952; with a margin 2307.09288, eq. 2. Raises
    ShapeError.
    """
    same_shape(chosen=chosen, rejected=rejected)
    return -F.logsigmoid(chosen - rejected - margin)


def verdict_loss(rewards: Tensor, good: Tensor, threshold: Tensor) -> Tensor:
    """-log σ(r - b) for an answer that was rated good, -log σ(b - r) for a bad one.

    rewards: [N]; good: bool [N]; threshold: b, the reward of an answer that is neither, broadcast to [N].
    Returns [N]. Raises ShapeError.
    """
    same_shape(rewards=rewards, good=good)
    signs = good.to(rewards.dtype) * 2.0 - 1.0
    return -F.logsigmoid(signs * (rewards - threshold))


def centring(means: Tensor) -> Tensor:
    """mean (r̄²)  over prompts: choices say nothing about the level of rewards, so it is held near 0.

    means: [N], mean reward of each prompt's answers. Returns a scalar. After 2312.09244, eq. 2.
    """
    return means.square().mean()


def fitted_temperature(margins: Tensor) -> float:
    """The τ that minimises  mean -log σ(Δ / τ): how many units of reward one unit of log-odds is.

    margins: [N] differences r_c - r_r of held-out pairs. Returns τ, 0.02 to 50, by golden section on log τ;
    50 where the margins say nothing or the wrong thing.
    """
    low, high = math.log(0.02), math.log(50.0)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0

    def loss(at: float) -> float:
        scaled = margins.double() / math.exp(at)
        return float(bradley_terry_loss(scaled, torch.zeros_like(scaled)).mean())

    if not len(margins) or float(margins.mean()) <= 0.0:
        return 50.0
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if loss(left) <= loss(right) else (left, high)
    return math.exp((low + high) / 2.0)


def calibration_error(probabilities: Tensor, happened: Tensor, bins: int = 10) -> float:
    """Expected calibration error: Σ share of bin |mean probability - share that happened|.

    probabilities: [N], 0 to 1; happened: bool [N]. Bins of equal width; 0 for no data. 1706.04599, eq. 3.
    Raises ShapeError.
    """
    same_shape(probabilities=probabilities, happened=happened)
    if not len(probabilities):
        return 0.0
    places = (probabilities * bins).long().clamp(max=bins - 1)
    total = 0.0
    for place in range(bins):
        inside = places == place
        if inside.any():
            gap = probabilities[inside].mean() - happened[inside].float().mean()
            total += float(inside.float().mean() * gap.abs())
    return total
