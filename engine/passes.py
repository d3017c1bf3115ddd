"""RMSNorm and cross-entropy with hand-written derivatives, for training on a CPU.

Autograd's versions read and write memory many times, which takes as long as the matrix products once those
are in bfloat16. Results are equal up to rounding. On a GPU torch's own operations are used, which a compiler
fuses.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROWS = 128
"""Rows of logits per chunk, so that a chunk stays in the processor's cache."""


class RMSNorm(nn.RMSNorm):
    """x / √(mean(x²) + ε) · weight over the last dimension (arXiv 1910.07467)."""

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., D]. Returns the same shape; under autocast in its dtype, because a product follows."""
        if x.is_cuda or self.weight.dtype != torch.float32 or self.eps is None:
            return super().forward(x)
        kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype
        normed: Tensor = _Norm.apply(x.float(), self.weight, self.eps, kind)
        return normed


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Negative log-likelihoods [N] in nats, float32. logits: [N, V], any dtype; labels: [N]; the loss of a
    negative label is 0."""
    if logits.is_cuda:
        return F.cross_entropy(
            logits.float(), labels.clamp(min=-1), ignore_index=-1, reduction="none"
        )
    losses: Tensor = _CrossEntropy.apply(logits, labels)
    return losses


class _Norm(torch.autograd.Function):
    """Derivative: with s = 1 / √(mean(x²) + ε) and h = gradient · weight, dx = s h − s³ x Σ(h x) / D."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float, kind: torch.dtype) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = length.square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, scale)
        return (x * scale).mul_(weight).to(kind)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        x, weight, scale = ctx.saved_tensors
        (gradient,) = gradients
        for_weight = None
        if ctx.needs_input_grad[1]:
            for_weight = (gradient * x).mul_(scale).flatten(0, -2).sum(0)
        through = gradient * weight
        along = (through * x).sum(-1, keepdim=True)
        back = through.mul_(scale).addcmul_(x, along * scale.pow(3) / -x.shape[-1])
        return back, for_weight, None, None


class _CrossEntropy(torch.autograd.Function):
    """log Σ exp(logits) − logit of the label; its derivative is softmax − one-hot."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> Tensor:
        total = torch.cat([part.float().logsumexp(-1) for part in logits.split(ROWS)])
        ctx.save_for_backward(logits, labels, total)
        own = logits.gather(1, labels.clamp(min=0)[:, None])[:, 0].float()
        return (total - own).mul_(labels >= 0)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        logits, labels, total = ctx.saved_tensors
        gradient = (gradients[0] * (labels >= 0))[:, None]
        own = labels.clamp(min=0)[:, None]
        back = torch.empty_like(logits)
        for start in range(0, len(logits), ROWS):
            part = slice(start, start + ROWS)
            share = (logits[part] - total[part, None]).exp_()  # softmax
            minus_one = share.gather(1, own[part]) - 1.0
            back[part] = share.scatter_(1, own[part], minus_one).mul_(gradient[part])
        return back, None
