"""Preference losses on answers. Log-probabilities are sums over an answer's tokens, in nats."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

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
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -F.logsigmoid(beta * margin)


def avoidance_loss(policy: Tensor, reference: Tensor, beta: float) -> Tensor:
    """-log σ(-β (π - ref))  per answer: pushes an unwanted answer below its reference probability.

    policy, reference: [N] log-probabilities; beta > 0. Returns [N]; ln 2 if they agree, falling towards 0
    as the answer becomes unlikely, so that the gradient vanishes. Negative preference optimisation,
    arXiv 2404.05868, eq. 3 (without the factor 2/β). Raises ShapeError if lengths differ.
    """
    same_shape(policy=policy, reference=reference)
    return -F.logsigmoid(-beta * (policy - reference))
