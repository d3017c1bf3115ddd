"""Forward passes over batches of examples: logits and losses at the target positions, and tests of knowledge.

Logits take most of the memory: a position has one for each id of the vocabulary. So they are computed for
target positions only, and where possible for OUTPUT_BLOCK of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from learning.data.examples import Example, collate, micro_batches
from learning.maths.kl import kl_divergence

OUTPUT_BLOCK = 192
"""Targets whose logits are in memory at a time (`by_target`). With a vocabulary of 49,152 ids and what is
computed from them that is 190 MB. With smaller blocks the weights of the output layer are read too often."""
WITHOUT_GRADIENT = 3
"""Times as many targets without gradient, where nothing is kept for a backward pass."""
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

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states [N, D] at the positions that predict the examples' targets, in order."""
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., D] -> [..., V]."""
        ...


def target_states(
    model: Model | HiddenStates, examples: Sequence[Example]
) -> tuple[Tensor, Tensor, Tensor]:
    """Final hidden states at the target positions: (states [N, D], labels [N], row of each target [N])."""
    device, batch = model.device, collate(examples)
    places = batch.places.to(device)
    with autocast(device):
        if isinstance(model, Model):
            states = model.hidden_states(batch.ids.to(device), wanted=places)
        else:
            states = model.at_targets(examples)
    return states, batch.labels.to(device), places // batch.ids.shape[1]


def logits_of(model: Model | HiddenStates, states: Tensor) -> Tensor:
    """Final hidden states [N, D] to logits [N, V] in float32."""
    with autocast(model.device):
        return model.logits(states).float()


def target_logits(
    model: Model | HiddenStates, examples: Sequence[Example]
) -> tuple[Tensor, Tensor, Tensor]:
    """Logits at all target positions at once: (logits [N, V] in float32, labels [N], row of each target
    [N]). `by_target` needs less memory."""
    states, labels, rows = target_states(model, examples)
    return logits_of(model, states), labels, rows


Measure = Callable[[Tensor, slice], Tensor]
"""(logits [n, V] in float32, which of the N targets these are) -> a value of each, [n, ...]."""


def by_target(model: Model | HiddenStates, states: Tensor, measure: Measure) -> Tensor:
    """`measure` of all targets, [N, ...]. states: as of `target_states`, [N, D].

    Computes the logits of OUTPUT_BLOCK targets at a time, or of WITHOUT_GRADIENT times as many. With gradient
    a value must depend on its own target's logits alone, and be one number. What is kept for the backward
    pass is then the value's gradient with respect to the target's state: D numbers in place of V. Where the
    output layer is trained, all logits are kept, because its gradient needs them.
    """
    if not (torch.is_grad_enabled() and states.requires_grad):
        parts = _blocks(len(states), OUTPUT_BLOCK * WITHOUT_GRADIENT)
        return torch.cat([measure(logits_of(model, states[part]), part) for part in parts])
    if len(states) <= OUTPUT_BLOCK or _trains_output(model, states):
        return measure(logits_of(model, states), slice(0, len(states)))
    values: Tensor = _Blockwise.apply(states, model, measure)  # type: ignore[no-untyped-call]
    return values


def _blocks(count: int, size: int) -> list[slice]:
    """At least one."""
    return [slice(start, min(start + size, count)) for start in range(0, max(1, count), size)]


def _trains_output(model: Model | HiddenStates, states: Tensor) -> bool:
    """Whether logits have a gradient with respect to more than the states. Computes those of no state."""
    return logits_of(model, states[:0].detach()).requires_grad


class _Blockwise(torch.autograd.Function):
    """`by_target` with gradient, of an output layer that is not trained."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, model: Model | HiddenStates, measure: Measure) -> Tensor:
        found, slopes = list[Tensor](), list[Tensor]()
        for part in _blocks(len(states), OUTPUT_BLOCK):
            own = states[part].detach().requires_grad_()
            with torch.enable_grad():
                values = measure(logits_of(model, own), part)
                slopes += torch.autograd.grad(values.sum(), own)
            found.append(values.detach())
        ctx.save_for_backward(torch.cat(slopes))
        return torch.cat(found)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        (slopes,) = ctx.saved_tensors
        return gradient[:, None] * slopes, None, None


def target_losses(
    model: Model | HiddenStates, examples: Sequence[Example]
) -> tuple[Tensor, Tensor]:
    """(negative log-likelihood of each target [N] in nats, row of each target [N])."""
    states, labels, rows = target_states(model, examples)
    return by_target(model, states, partial(_losses, labels)), rows


def _losses(labels: Tensor, logits: Tensor, part: slice) -> Tensor:
    return F.cross_entropy(logits, labels[part], reduction="none")


def target_divergences(
    model: Model | HiddenStates, reference: Model | HiddenStates, examples: Sequence[Example]
) -> Tensor:
    """KL(reference || model) at each target position, [N], in nats. No gradient flows into the reference."""
    with torch.no_grad():
        before, _, _ = target_states(reference, examples)
    states, _, _ = target_states(model, examples)
    return by_target(model, states, partial(_divergences, reference, before))


def _divergences(
    reference: Model | HiddenStates, before: Tensor, logits: Tensor, part: slice
) -> Tensor:
    with torch.no_grad():
        wanted = logits_of(reference, before[part])
    return kl_divergence(wanted, logits)


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
        states, labels, rows = target_states(model, [examples[i] for i in group])
        nll, lead = by_target(model, states, partial(_judged, labels)).unbind(1)
        for place, index in enumerate(group):
            own = rows == place
            margin = float(lead[own].min()) if own.any() else float("inf")
            result[index] = Knowledge(float(nll[own].sum()), int(own.sum()), margin)
    return [item for item in result if item is not None]


def _judged(labels: Tensor, logits: Tensor, part: slice) -> Tensor:
    """[n, 2]: negative log-likelihood in nats, and lead over the best wrong token. Overwrites logits [n, V],
    in blocks that stay in the processor's cache."""
    found = []
    for some, right in zip(logits.split(BLOCK), labels[part].split(BLOCK), strict=True):
        nll = F.cross_entropy(some, right, reduction="none")
        own = some.gather(1, right[:, None])[:, 0]
        lead = own - some.scatter_(1, right[:, None], float("-inf")).amax(1)
        found.append(torch.stack([nll, lead], 1))
    return torch.cat(found)


def share_known(checked: Sequence[Knowledge]) -> float:
    """Exact recall, 0 to 1; 1 if `checked` is empty."""
    return sum(item.known for item in checked) / len(checked) if checked else 1.0


def mean_loss(checked: Sequence[Knowledge]) -> float:
    """Mean loss over all examples, in nats per target token."""
    tokens = sum(item.tokens for item in checked)
    return sum(item.nll for item in checked) / tokens if tokens else 0.0
