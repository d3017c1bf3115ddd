"""Divergences between two policies over the vocabulary."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from learning.maths.shapes import same_shape


def kl_divergence(reference_logits: Tensor, logits: Tensor) -> Tensor:
    """KL(reference || policy) = Σ_v p_ref (log p_ref - log p)  per position, in nats.

    reference_logits, logits: [..., V]. Returns [...], >= 0 up to rounding; 0 where they agree.
    """
    same_shape(reference_logits=reference_logits, logits=logits)
    reference = F.log_softmax(reference_logits.float(), -1)
    policy = F.log_softmax(logits.float(), -1)
    return (reference.exp() * (reference - policy)).sum(-1)
