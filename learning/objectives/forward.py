"""Forward passes over batches of examples: logits at the positions that matter, and what is known."""

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

CHECK_TOKENS = 2048
"""Padded tokens in a forward pass without gradients; small, so that the owner never waits for one."""


class HiddenStates(Protocol):
    """What stands in for a whole model: the upper blocks on cached inputs, or kept final states."""

    @property
    def device(self) -> torch.device:
        """Where its tensors are."""
        ...

    def hidden_states(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states, [B, T, D], as `collate` pads the examples."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., D] -> [..., V]."""
        ...


def target_logits(
    model: Model | HiddenStates, examples: Sequence[Example]
) -> tuple[Tensor, Tensor, Tensor]:
    """Logits where something is to be predicted: (logits [N, V], labels [N], row of each [N]).

    Only these positions go through the vocabulary, which is most of the memory.
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


def row_log_probabilities(logits: Tensor, labels: Tensor, rows: Tensor, count: int) -> Tensor:
    """Sum over each row's targets of log p(label), [count], in nats, with gradient."""
    token = -F.cross_entropy(logits, labels, reduction="none")
    return torch.zeros(count, device=token.device).index_add(0, rows, token)


@dataclass(frozen=True)
class Knowledge:
    """How well one example is known."""

    nll: float
    """Negative log-likelihood of all its targets, in nats."""
    tokens: int
    margin: float
    """Smallest lead of a right token's logit over the best wrong one; > 0: greedy decoding says
    exactly this answer."""

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
    """Checks examples by one forward pass: every target the likeliest token given the right ones
    before it is the same as exact greedy decoding. `pause` is called between micro-batches of
    at most `tokens` padded tokens."""
    result: list[Knowledge | None] = [None] * len(examples)
    for group in micro_batches(examples, tokens):
        pause()
        logits, labels, rows = target_logits(model, [examples[i] for i in group])
        nll = F.cross_entropy(logits, labels, reduction="none")
        right = logits.gather(1, labels[:, None])[:, 0]
        wrong = logits.scatter(1, labels[:, None], float("-inf")).amax(1)
        for place, index in enumerate(group):
            own = rows == place
            margin = float((right - wrong)[own].min()) if own.any() else float("inf")
            result[index] = Knowledge(float(nll[own].sum()), int(own.sum()), margin)
    return [item for item in result if item is not None]


def share_known(checked: Sequence[Knowledge]) -> float:
    """Exact recall, 0 to 1; 1 if there is nothing to know."""
    return sum(item.known for item in checked) / len(checked) if checked else 1.0


def mean_loss(checked: Sequence[Knowledge]) -> float:
    """Nats per target token over all examples."""
    tokens = sum(item.tokens for item in checked)
    return sum(item.nll for item in checked) / tokens if tokens else 0.0
