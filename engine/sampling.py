"""Drawing the next token: pure functions on logits [B, V] in fp32.

Order as in the field: repetition penalty, temperature, top-k, top-p, min-p.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.config import Sampling

NEVER = float("-inf")
NUCLEUS = 64, 1024
"""Tokens that top-p looks at before it sorts them all, which takes four times as long as the latter."""


def penalise_repetition(logits: Tensor, said: Sequence[Sequence[int]], penalty: float) -> Tensor:
    """Divides positive and multiplies negative logits of tokens already said by the penalty.

    said: per row the answer's tokens so far. 1909.05858, section 4.1.
    """
    width = max(map(len, said), default=0)
    if penalty == 1.0 or width == 0:
        return logits
    # shorter rows say their last token again, which changes nothing; silent ones are left out
    rows = [row for row, tokens in enumerate(said) if tokens]
    ids = [[*said[row], *[said[row][-1]] * (width - len(said[row]))] for row in rows]
    place = torch.tensor(ids, device=logits.device)
    chosen = logits if len(rows) == len(said) else logits[rows]
    values = chosen.gather(1, place)
    changed = chosen.scatter(1, place, torch.where(values > 0, values / penalty, values * penalty))
    if len(rows) == len(said):
        return changed
    out = logits.clone()
    out[rows] = changed
    return out


def keep_top_k(logits: Tensor, k: int) -> Tensor:
    """All but the k largest become -inf; k = 0 keeps all."""
    if k == 0 or k >= logits.shape[-1]:
        return logits
    smallest = logits.topk(k, -1).values[..., -1:]
    return logits.masked_fill(logits < smallest, NEVER)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Keeps the smallest set of likeliest tokens whose probability reaches p (1904.09751)."""
    if p >= 1.0:
        return logits
    probabilities = logits.softmax(-1)
    size = logits.shape[-1]
    for count in (*(n for n in NUCLEUS if n < size), size):
        ordered, order = probabilities.topk(count, -1)
        before = ordered.cumsum(-1) - ordered
        if bool((before[..., -1] >= p).all()):
            break
    kept = logits.gather(-1, order).masked_fill_(before >= p, NEVER)
    return torch.full_like(logits, NEVER).scatter_(-1, order, kept)


def keep_min_p(logits: Tensor, min_p: float) -> Tensor:
    """Drops tokens less likely than min_p times the likeliest (2407.01082)."""
    if min_p == 0.0:
        return logits
    log_probabilities = logits.log_softmax(-1)
    least = log_probabilities.amax(-1, keepdim=True) + torch.tensor(min_p).log()
    return logits.masked_fill(log_probabilities < least, NEVER)


def shape_logits(
    logits: Tensor, said: Sequence[Sequence[int]], sampling: Sampling, temperature: Tensor
) -> Tensor:
    """Logits of the distribution that is drawn from. temperature: [B], > 0."""
    logits = penalise_repetition(logits, said, sampling.repetition_penalty) / temperature[:, None]
    logits = keep_top_p(keep_top_k(logits, sampling.top_k), sampling.top_p)
    return keep_min_p(logits, sampling.min_p)


def sample(logits: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draws one id per row by the inverse of its cumulative distribution: (ids [B], their
    log-probabilities [B])."""
    most = logits.amax(-1, keepdim=True)
    cumulative = (logits - most).exp_().cumsum(-1, dtype=torch.float64)
    total = cumulative[:, -1:]
    draw = torch.rand(len(logits), 1, dtype=torch.float64, generator=generator).to(logits.device)
    # right: the first whose sum exceeds the draw, which never is a token of probability 0
    ids = torch.searchsorted(cumulative, draw * total, right=True)
    return ids[:, 0], (logits.gather(1, ids) - most - total.log())[:, 0].to(logits.dtype)
