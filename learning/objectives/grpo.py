"""Group-relative policy gradients (GRPO, 2402.03300) on answers that were drawn and scored.

Experience is kept without padding. All answers of a group share one row behind one copy of their
prompt, each seeing the prompt and itself, so that a prompt is worked through once and not once for
every answer. Only positions that predict an answer's token go through the vocabulary, a chunk at a
time. Normalised by all active tokens of the batch (DAPO, 2503.14476). Left out: drawing and scoring
(learning.practice), the optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from learning.maths import kl
from learning.maths.policy import clipped, clipped_surrogate, entropy, token_mean

MICRO_TOKENS = 512
"""Tokens in a forward and backward pass; attention grows with their square."""
CHUNK = 512
"""Positions that go through the vocabulary at a time."""

Divergence = Callable[[Tensor, Tensor], Tensor]
"""(log-probabilities, those of the reference) to an estimate a token: kl.k1, kl.k2 or kl.k3."""


@dataclass(frozen=True)
class GrpoSettings:
    """The objective."""

    low: float = 0.2
    """A ratio to the behaviour policy below 1 - low gives no gradient where the advantage is below 0 ..."""
    high: float = 0.28
    """... and one above 1 + high none where it is above 0 (2503.14476 clips higher above)."""
    kl_weight: float = 0.0
    """Weight of the divergence from the reference; 0 is off."""
    divergence: Divergence = kl.k3
    temperature: float = 1.0
    """At which the answers were drawn, > 0: log-probabilities are of that distribution."""
    micro_tokens: int = MICRO_TOKENS


@dataclass(frozen=True)
class GrpoAnswer:
    """One answer that was drawn."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Of each token under the policy that drew it."""
    advantage: float
    active: bool = True
    """False: gives no gradient, e.g. because it was cut off at the limit."""


@dataclass(frozen=True)
class GrpoGroup:
    """A prompt and the answers to it."""

    prompt: tuple[int, ...]
    answers: tuple[GrpoAnswer, ...]

    @property
    def tokens(self) -> int:
        """Active tokens."""
        return sum(len(a.tokens) for a in self.answers if a.active)


@dataclass
class GrpoReport:
    """What one batch did, before its step. Means are over active tokens."""

    loss: float = 0.0
    """The surrogate and the weighted divergence."""
    entropy: float = 0.0
    """Nats a token."""
    clipped: float = 0.0
    """Share of tokens that the bounds silenced."""
    kl: float = 0.0
    """From the reference; 0 if none was given."""
    tokens: int = 0
    ratio: float = 0.0
    """Mean of π / π_behaviour; 1 in the first update after a rollout."""


@dataclass(frozen=True)
class _GrpoRow:
    """Some answers of one group behind their prompt."""

    prompt: tuple[int, ...]
    answers: tuple[GrpoAnswer, ...]

    @property
    def size(self) -> int:
        return len(self.prompt) + sum(len(a.tokens) - 1 for a in self.answers)


@dataclass(frozen=True)
class _Packed:
    """A row as tensors. T inputs, L predicted tokens."""

    ids: Tensor
    """[1, T]"""
    positions: Tensor
    """[T] each token's place in prompt and answer."""
    mask: Tensor
    """[1, 1, T, T] additive."""
    source: Tensor
    """[L] the position in the row that predicts a token."""
    labels: Tensor
    """[L]"""
    behaviour: Tensor = field(repr=False)
    """[L]"""
    advantages: Tensor = field(repr=False)
    """[L]"""


def grpo_gradients(
    model: Model,
    groups: Sequence[GrpoGroup],
    settings: GrpoSettings,
    *,
    reference: Model | None = None,
    pause: Callable[[], None] = lambda: None,
) -> GrpoReport:
    """Adds the gradient of the objective over all groups, accumulated over micro-batches.

    Answers without a part in it (inactive, or with advantage 0 if there is no divergence) cost
    nothing, but for their tokens in the normaliser. `pause` is called before every micro-batch.
    """
    report = GrpoReport(tokens=sum(group.tokens for group in groups))
    seen = 0
    for row in _rows(groups, settings, divergence=bool(settings.kl_weight and reference)):
        pause()
        packed = _pack(row, model.device)
        hidden = _hidden(model, packed)
        anchor = _reference(reference, packed, settings) if settings.kl_weight else None
        leaf = hidden.detach().requires_grad_()
        for start in range(0, len(packed.labels), CHUNK):
            part = slice(start, start + CHUNK)
            with autocast(model.device):
                logits = model.logits(leaf[part])
            logits = logits.float() / settings.temperature
            now = -F.cross_entropy(logits, packed.labels[part], reduction="none")
            was, advantages = packed.behaviour[part], packed.advantages[part]
            loss = token_mean(
                clipped_surrogate(now, was, advantages, settings.low, settings.high), report.tokens
            )
            if anchor is not None:
                apart = settings.divergence(now, anchor[part])
                loss = loss + settings.kl_weight * token_mean(apart, report.tokens)
                report.kl += float(apart.detach().sum())
            loss.backward()  # type: ignore[no-untyped-call]
            report.loss += float(loss.detach())
            with torch.no_grad():
                report.entropy += float(entropy(logits).sum())
                silent = clipped(now, was, advantages, settings.low, settings.high)
                report.clipped += float(silent.sum())
                report.ratio += float((now - was).exp().sum())
            seen += len(now)
        hidden.backward(leaf.grad)
    if seen:
        report.entropy /= seen
        report.clipped /= seen
        report.ratio /= seen
        report.kl /= seen
    return report


@torch.no_grad()
def log_probabilities(
    model: Model,
    groups: Sequence[GrpoGroup],
    settings: GrpoSettings,
    *,
    pause: Callable[[], None] = lambda: None,
) -> list[list[Tensor]]:
    """Of each token of each answer, [group][answer] -> [tokens], active or not, without gradient."""
    found: list[list[Tensor]] = []
    for group in groups:
        own: list[Tensor] = []
        for row in _split(group.prompt, group.answers, settings.micro_tokens):
            pause()
            packed = _pack(row, model.device)
            values = _token_log_probabilities(model, packed, settings)
            own += values.split([len(a.tokens) for a in row.answers])
        found.append(own)
    return found


def _rows(
    groups: Sequence[GrpoGroup], settings: GrpoSettings, *, divergence: bool
) -> list[_GrpoRow]:
    """What has a gradient, in rows of about `micro_tokens`."""
    rows: list[_GrpoRow] = []
    for group in groups:
        answers = [a for a in group.answers if a.active and (divergence or a.advantage != 0.0)]
        rows += _split(group.prompt, answers, settings.micro_tokens)
    return rows


def _split(prompt: tuple[int, ...], answers: Sequence[GrpoAnswer], size: int) -> list[_GrpoRow]:
    """Rows of at most `size` tokens, where one answer does not need more."""
    rows: list[_GrpoRow] = []
    for answer in answers:
        grown = _GrpoRow(prompt, (*rows[-1].answers, answer)) if rows else None
        if grown and grown.size <= size:
            rows[-1] = grown
        else:
            rows.append(_GrpoRow(prompt, (answer,)))
    return rows


def _pack(row: _GrpoRow, device: torch.device) -> _Packed:
    start = len(row.prompt)
    ids, positions, owner = list(row.prompt), list(range(start)), [0] * start
    source: list[int] = []
    for number, answer in enumerate(row.answers, 1):
        body = answer.tokens[:-1]  # the last token is predicted and predicts nothing
        source += [start - 1, *range(len(ids), len(ids) + len(body))]
        ids += body
        positions += range(start, start + len(body))
        owner += [number] * len(body)
    whose = torch.tensor(owner, device=device)
    visible = (whose[None, :] == 0) | (whose[None, :] == whose[:, None])
    visible &= torch.ones_like(visible).tril()
    mask = torch.zeros(visible.shape, device=device).masked_fill_(~visible, float("-inf"))
    return _Packed(
        torch.tensor([ids], device=device),
        torch.tensor(positions, device=device),
        mask[None, None],
        torch.tensor(source, device=device),
        torch.tensor([i for a in row.answers for i in a.tokens], device=device),
        torch.tensor([p for a in row.answers for p in a.logprobs], device=device),
        torch.tensor([a.advantage for a in row.answers for _ in a.tokens], device=device),
    )


def _hidden(model: Model, packed: _Packed) -> Tensor:
    """Hidden states that predict the answers' tokens, [L, D]."""
    with autocast(model.device):
        hidden = model.hidden_states(packed.ids, positions=packed.positions, mask=packed.mask)
    return hidden[0, packed.source]


def _token_log_probabilities(model: Model, packed: _Packed, settings: GrpoSettings) -> Tensor:
    """[L], a chunk of the vocabulary's matrix product at a time."""
    hidden = _hidden(model, packed)
    parts = []
    for start in range(0, len(packed.labels), CHUNK):
        with autocast(model.device):
            logits = model.logits(hidden[start : start + CHUNK])
        logits = logits.float() / settings.temperature
        labels = packed.labels[start : start + CHUNK]
        parts.append(-F.cross_entropy(logits, labels, reduction="none"))
    return torch.cat(parts)


@torch.no_grad()
def _reference(model: Model | None, packed: _Packed, settings: GrpoSettings) -> Tensor | None:
    return None if model is None else _token_log_probabilities(model, packed, settings)
