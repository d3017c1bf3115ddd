"""Samples the next token: pure functions on logits [B, V] in float32.

In the usual order: repetition penalty, temperature, top-k, top-p, min-p.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.config import Sampling
from engine.errors import NumericsError

NEVER = float("-inf")
BLOCK = 64
"""Ids per block of partial sums."""
TRIES = 16
"""Most draws from all ids before the top-p set is computed by sorting."""


def penalise_repetition(logits: Tensor, said: Sequence[Sequence[int]], penalty: float) -> Tensor:
    """Divides positive and multiplies negative logits of tokens that occurred before by the penalty (>= 1).

    said: the answer's tokens so far, per row. Returns [B, V]. arXiv 1909.05858, section 4.1.
    """
    width = max(map(len, said), default=0)
    if penalty == 1.0 or width == 0:
        return logits
    # pad shorter rows by repeating their last token, which changes nothing; skip empty rows
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
    """Sets all but the k largest logits to -inf; k = 0 keeps all."""
    if k == 0 or k >= logits.shape[-1]:
        return logits
    smallest = logits.topk(k, -1).values[..., -1:]
    return logits.masked_fill(logits < smallest, NEVER)


def keep_top_p(logits: Tensor, p: float) -> Tensor:
    """Keeps the smallest set of likeliest tokens with a total probability of at least p; others become -inf
    (nucleus sampling, arXiv 1904.09751)."""
    if p >= 1.0:
        return logits
    ordered, order = logits.softmax(-1).sort(-1, descending=True)
    kept = logits.gather(-1, order).masked_fill_(ordered.cumsum(-1) - ordered >= p, NEVER)
    return torch.full_like(logits, NEVER).scatter_(-1, order, kept)


def keep_min_p(logits: Tensor, min_p: float) -> Tensor:
    """Sets tokens less likely than min_p times the likeliest one to -inf (arXiv 2407.01082)."""
    if min_p == 0.0:
        return logits
    log_probabilities = logits.log_softmax(-1)
    least = log_probabilities.amax(-1, keepdim=True) + torch.tensor(min_p).log()
    return logits.masked_fill(log_probabilities < least, NEVER)


def shape_logits(
    logits: Tensor, said: Sequence[Sequence[int]], sampling: Sampling, temperature: Tensor
) -> Tensor:
    """Applies the repetition penalty, then divides by temperature [B] > 0. Returns [B, V]."""
    return penalise_repetition(logits, said, sampling.repetition_penalty) / temperature[:, None]


def draw(shaped: Tensor, sampling: Sampling, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Samples one id per row after top-k, top-p and min-p: (ids [B], their log-probabilities [B] without
    these three, in nats)."""
    cut, top_p = keep_top_k(shaped, sampling.top_k), sampling.top_p
    if sampling.min_p:  # applies after top-p
        cut, top_p = keep_min_p(keep_top_p(cut, top_p), sampling.min_p), 1.0
    ids, logprobs = sample(cut, generator, top_p)
    if cut is not shaped:
        logprobs = shaped.log_softmax(-1).gather(1, ids[:, None])[:, 0]
    return ids, logprobs


def sample(logits: Tensor, generator: torch.Generator, top_p: float = 1.0) -> tuple[Tensor, Tensor]:
    """Samples one id per row, with top_p < 1 from the set of `keep_top_p`: (ids [B], their log-probabilities
    [B] under the logits, in nats).

    Uses rejection: an id is outside the set if the tokens likelier than it have a total probability of at
    least top_p. That takes a sixth of the time of sorting. Raises NumericsError if the logits are not
    finite, for example because of huge weights.
    """
    most = logits.amax(-1, keepdim=True)
    weights = (logits - most).exp_()
    sums = _Sums(weights, generator)
    if not bool(torch.isfinite(sums.total).all()):
        raise NumericsError(
            "the model's numbers grow beyond all bounds, so it cannot answer",
            "use another model, or go back to earlier weights with `vidya model rollback`",
        )
    ids = sums.draw()
    if top_p < 1.0:
        for _ in range(TRIES):
            outside = _likelier(weights, ids) >= top_p * sums.total
            if not bool(outside.any()):
                break
            ids = torch.where(outside, sums.draw(), ids)
        else:
            # rows that are inside the set by now keep their id
            outside = _likelier(weights, ids) >= top_p * sums.total
            among = (keep_top_p(logits, top_p) - most).exp_()
            ids = torch.where(outside, _Sums(among, generator).draw(), ids)
    logprobs = logits.gather(1, ids) - most - sums.total.log()
    return ids[:, 0], logprobs[:, 0].to(logits.dtype)


def _likelier(weights: Tensor, ids: Tensor) -> Tensor:
    """Total weight of the ids that weigh more than the chosen one, [B, 1]."""
    return (weights * (weights > weights.gather(1, ids))).sum(-1, True)


class _Sums:
    """Samples by inverting the cumulative distribution of weights [B, V]: first a block, then an id within
    it. One cumulative sum over all ids would take ten times as long."""

    def __init__(self, weights: Tensor, generator: torch.Generator) -> None:
        self._generator = generator
        short = -weights.shape[-1] % BLOCK
        weights = F.pad(weights, (0, short)) if short else weights
        self._blocks = weights.view(len(weights), -1, BLOCK)
        self._until = self._blocks.sum(-1).cumsum(-1, dtype=torch.float64)
        self.total = self._until[:, -1:]
        """Total weight, [B, 1], float64."""

    def draw(self) -> Tensor:
        """Ids [B, 1], never one of weight 0."""
        share = torch.rand(len(self._until), 1, dtype=torch.float64, generator=self._generator)
        goal = share.to(self._until.device) * self.total
        # right=True: the first block whose sum exceeds the goal, so its weight is not 0
        block = torch.searchsorted(self._until, goal, right=True)
        rows = torch.arange(len(block), device=block.device)[:, None]
        within = self._blocks[rows, block][:, 0].cumsum(-1, dtype=torch.float64)
        before = torch.where(block > 0, self._until.gather(1, (block - 1).clamp_min_(0)), 0.0)
        # the sum within the block may round differently from the sum over blocks
        most = torch.nextafter(within[:, -1:], torch.zeros_like(before))
        place = torch.searchsorted(within, torch.minimum(goal - before, most), right=True)
        return block * BLOCK + place
