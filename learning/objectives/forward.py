"""Forward passes over batches of examples: logits at the target positions, and tests of knowledge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from learning.data.examples import Example, collate, micro_batches

BLOCK = 16
"""Targets that are judged at a time."""
CHECK_TOKENS = 2048
"""Padded tokens per forward pass without gradients; small, so that the owner hardly waits for one."""


class HiddenStates(Protocol):
    """Stands in for a whole model: the upper blocks on cached inputs, or cached final hidden states."""

    @property
    def device(self) -> torch.device:
        """The device of its tensors."""
        ...

    def hidden_states(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states [B, T, D] of the examples, padded as by `collate`."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., D] -> [..., V]."""
        ...


def target_logits(
    model: Model | HiddenStates, examples: Sequence[Example]
) -> tuple[Tensor, Tensor, Tensor]:
    """Logits at the target positions: (logits [N, V] in float32, labels [N], row of each target [N]).

    Computes logits for these positions only, because logits take most of the memory.
    """
    device, batch = model.device, collate(examples)
    labels = batch.labels.to(device)
    wanted = labels >= 0
    with autocast(device):
        if isinstance(model, Model):
            hidden = model.hidden_states(batch.ids.to(device))
        else:
            hidden = model.hidden_states(examples)
        logits = model.logits(hidden[wanted])
    return logits.float(), labels[wanted], wanted.nonzero()[:, 0]


def row_log_probabilities(
    logits: Tensor, labels: Tensor, rows: Tensor, count: int, weights: Tensor | None = None
) -> Tensor:
    """Sum of log p(label) over the targets of each row, [count], in nats, with gradient.

    logits: [N, V]; labels, rows: [N], rows in [0, count); weights: [N], 1 by default.
    """
    token = -F.cross_entropy(logits, labels, reduction="none")
    if weights is not None:
        token = token * weights
    return torch.zeros(count, device=token.device).index_add(0, rows, token)


@dataclass(frozen=True)
class Knowledge:
    """How well the model knows one example."""

    nll: float
    """Negative log-likelihood of all its targets, in nats."""
    tokens: int
    """Number of targets."""
    margin: float
    """Smallest difference, over the targets, of the right token's logit and the best wrong one. If > 0,
    greedy decoding gives exactly this answer."""

    @property
    def known(self) -> bool:
        return self.margin > 0.0


@torch.no_grad()
def knowledge(
    model: Model | HiddenStates,
    examples: Sequence[Example],
    *,
    pause: Callable[[], None] = lambda: None,
    tokens: int = CHECK_TOKENS,
) -> list[Knowledge]:
    """Tests examples with one forward pass each: greedy decoding gives exactly the answer if every target
    is the likeliest token given the right ones before it.

    Calls `pause` before each micro-batch of at most `tokens` padded tokens. One result per example, in
    order."""
    result: list[Knowledge | None] = [None] * len(examples)
    for group in micro_batches(examples, tokens):
        pause()
        logits, labels, rows = target_logits(model, [examples[i] for i in group])
        nll, lead = _judged(logits, labels)
        for place, index in enumerate(group):
            own = rows == place
            margin = float(lead[own].min()) if own.any() else float("inf")
            result[index] = Knowledge(float(nll[own].sum()), int(own.sum()), margin)
    return [item for item in result if item is not None]


def _judged(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """(negative log-likelihood in nats, lead over the best wrong token), each [N]. Overwrites logits [N, V],
    in blocks that stay in the processor's cache."""
    nll, lead = [], []
    for part, right in zip(logits.split(BLOCK), labels.split(BLOCK), strict=True):
        nll.append(F.cross_entropy(part, right, reduction="none"))
        own = part.gather(1, right[:, None])[:, 0]
        lead.append(own - part.scatter_(1, right[:, None], float("-inf")).amax(1))
    return torch.cat(nll), torch.cat(lead)


def share_known(checked: Sequence[Knowledge]) -> float:
    """Exact recall, 0 to 1; 1 if `checked` is empty."""
    return sum(item.known for item in checked) / len(checked) if checked else 1.0


def mean_loss(checked: Sequence[Knowledge]) -> float:
    """Mean loss over all examples, in nats per target token."""
    tokens = sum(item.tokens for item in checked)
    return sum(item.nll for item in checked) / tokens if tokens else 0.0
