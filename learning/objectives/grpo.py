"""Group-relative policy gradients (GRPO, arXiv 2402.03300) on sampled and scored answers.

Rows have no padding. All answers of a group share one row behind one copy of their prompt
(learning.objectives.shared_prompt), which is computed once per row. Logits are computed only at positions
that predict an answer's token, some answers at a time. How tokens weigh, and which ratio is bounded, are
functions of the settings. Left out: sampling and scoring (learning.practice), the optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from engine.sampling import NEVER
from learning.maths.normalise import BatchSize
from learning.maths.policy import bounded_surrogate, entropy, out_of_bounds
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.settings import GrpoSettings
from learning.objectives.shared_prompt import SharedRow, portions, shared_mask

CHUNK = 512
"""Positions whose logits are computed at a time; an answer that is longer is not divided."""


@dataclass(frozen=True)
class GrpoAnswer:
    """One sampled answer."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Log-probability of each own token under the policy that sampled it, in nats."""
    advantage: float
    active: bool = True
    """False: the answer gives no gradient, for example because it was truncated."""
    by_token: tuple[float, ...] | None = None
    """An advantage for each own token in place of `advantage` (learning.objectives.token_credit)."""
    own: tuple[bool, ...] | None = None
    """For each token whether the policy drew it; None: all. The others are read and never learned: the words
    of a partner, the result of a tool."""

    @property
    def drawn(self) -> int:
        """Number of own tokens."""
        return len(self.logprobs)

    @classmethod
    def given(cls, tokens: Sequence[int]) -> GrpoAnswer:
        """An answer that is only read (`log_probabilities`): its odds when it was drawn do not count."""
        return cls(tuple(tokens), (0.0,) * len(tokens), 0.0)

    @property
    def advantages(self) -> tuple[float, ...]:
        """The advantage of each own token."""
        return (self.advantage,) * self.drawn if self.by_token is None else self.by_token

    @property
    def own_places(self) -> list[int]:
        """Indices of the own tokens."""
        return [i for i in range(len(self.tokens)) if self.own is None or self.own[i]]


@dataclass(frozen=True)
class GrpoGroup:
    """A prompt and the answers to it."""

    prompt: tuple[int, ...]
    answers: tuple[GrpoAnswer, ...]
    longest: int | None = None
    """Most own tokens that an answer to it may have; None: those of the longest active one of the batch."""

    @property
    def tokens(self) -> int:
        """Number of active own tokens."""
        return sum(a.drawn for a in self.answers if a.active)


@dataclass
class GrpoReport:
    """Figures of one batch, before its optimizer step. Means are over the tokens with a gradient."""

    loss: float = 0.0
    """Surrogate plus weighted divergence, normalised."""
    entropy: float = 0.0
    """Mean entropy of the answers with a gradient, nats per token."""
    clipped: float = 0.0
    """Share of tokens without gradient because of the clipping bounds."""
    kl: float = 0.0
    """Mean divergence from the reference, nats per token; 0 if there is none."""
    tokens: int = 0
    """Active tokens."""
    ratio: float = 0.0
    """Mean of π / π_behaviour; 1 in the first update after a rollout."""


@dataclass(frozen=True)
class _GrpoRow:
    """Some answers of one group behind their prompt."""

    prompt: tuple[int, ...]
    answers: tuple[GrpoAnswer, ...]
    longest: int | None
    """See GrpoGroup."""

    @property
    def size(self) -> int:
        return len(self.prompt) + sum(len(a.tokens) - 1 for a in self.answers)


@dataclass(frozen=True)
class _Packed:
    """A row as tensors: T input tokens, L predicted tokens, the answers' own."""

    ids: Tensor
    """[1, T]"""
    positions: Tensor
    """[T] position of each token in its prompt and answer."""
    mask: Tensor
    """[1, 1, T, T] additive attention mask."""
    source: Tensor
    """[L] index in the row of the position that predicts the token."""
    labels: Tensor
    """[L] ids of the predicted tokens."""
    behaviour: Tensor = field(repr=False)
    """[L] log-probabilities under the policy that sampled them."""
    advantages: Tensor = field(repr=False)
    """[L] advantage of each token."""
    weights: Tensor = field(repr=False)
    """[L] weight of each token in the loss of the batch."""
    answer: Tensor = field(repr=False)
    """[L] number of each token's answer in the row, from 0."""

    @property
    def chunks(self) -> list[slice]:
        """Slices of whole answers, of CHUNK positions together unless one answer is longer."""
        found, start, end = [], 0, 0
        for size in torch.bincount(self.answer).tolist():
            if end > start and end + size - start > CHUNK:
                found.append(slice(start, end))
                start = end
            end += size
        return [*found, slice(start, end)] if end > start else found


def grpo_gradients(
    model: Model,
    groups: Sequence[GrpoGroup],
    settings: GrpoSettings,
    *,
    reference: Model | None = None,
    never: Sequence[int] = (),
    pause: Callable[[], None] = lambda: None,
    team: ProcessGroup = ALONE,
) -> GrpoReport:
    """Adds the gradient of the objective over all groups, accumulated over micro-batches.

    Skips answers without gradient (inactive, or with advantage 0 if there is no divergence). Active ones
    among these still count in the normaliser. never: ids that are not drawn (engine.rollout); all
    probabilities are those of the distribution without them, from which answers come. Calls `pause` before
    every micro-batch. team: processes that share the rows; the gradient is then this process's part of the
    sum, the report is of all.
    """
    batch = _size(groups)
    report, seen = GrpoReport(tokens=batch.tokens), 0
    bounds = settings.low, settings.high, settings.dual_clip
    rows = _rows(groups, settings, divergence=bool(settings.kl_weight and reference))
    for row in team.share(rows):
        pause()
        size = replace(batch, longest=row.longest or batch.longest)
        each = [settings.normalise(answer.drawn, size) for answer in row.answers]
        packed = _pack(row, model.device, each)
        hidden = _hidden(model, packed)
        anchor = _reference(reference, packed, settings, never) if settings.kl_weight else None
        leaf = hidden.detach().requires_grad_()
        for part in packed.chunks:
            with autocast(model.device):
                logits = model.logits(leaf[part])
            logits = _shaped(logits, settings, never)
            now = -F.cross_entropy(logits, packed.labels[part], reduction="none")
            advantages, weights = packed.advantages[part], packed.weights[part]
            log_ratio = now - packed.behaviour[part]
            ratio = settings.ratio(log_ratio, packed.answer[part])
            loss = (weights * bounded_surrogate(ratio, advantages, *bounds)).sum()
            if anchor is not None:
                apart = settings.divergence(now, anchor[part])
                loss = loss + settings.kl_weight * (weights * apart).sum()
                report.kl += float(apart.detach().sum())
            loss.backward()  # type: ignore[no-untyped-call]
            report.loss += float(loss.detach())
            with torch.no_grad():
                report.entropy += float(entropy(logits).sum())
                report.clipped += float(out_of_bounds(ratio, advantages, *bounds).sum())
                report.ratio += float(ratio.sum())
            seen += len(now)
        hidden.backward(leaf.grad)
    summed = ("entropy", "clipped", "ratio", "kl")
    own = [getattr(report, name) for name in summed]
    report.loss, tokens, *sums = team.total(report.loss, seen, *own)
    for name, value in zip(summed, sums, strict=True):
        setattr(report, name, value / max(1.0, tokens))
    return report


@torch.no_grad()
def log_probabilities(
    model: Model,
    groups: Sequence[GrpoGroup],
    settings: GrpoSettings,
    *,
    never: Sequence[int] = (),
    precise: bool = False,
    pause: Callable[[], None] = lambda: None,
) -> list[list[Tensor]]:
    """Log-probabilities of all answers, active or not: [group][answer] -> [own tokens], in nats, without
    gradient. They are those of `grpo_gradients`, and so is `never`; precise: in float32, also where bfloat16
    is faster."""
    found: list[list[Tensor]] = []
    for group in groups:
        own: list[Tensor] = []
        for row in _split(group, group.answers, settings.micro_tokens):
            pause()
            packed = _pack(row, model.device, [0.0] * len(row.answers))
            values = _token_log_probabilities(model, packed, settings, never, precise)
            own += values.split([a.drawn for a in row.answers])
        found.append(own)
    return found


def _size(groups: Sequence[GrpoGroup]) -> BatchSize:
    lengths = [a.drawn for group in groups for a in group.answers if a.active]
    return BatchSize(len(lengths), sum(lengths), max(lengths, default=0))


def _rows(
    groups: Sequence[GrpoGroup], settings: GrpoSettings, *, divergence: bool
) -> list[_GrpoRow]:
    """The answers that have a gradient, in rows of at most `micro_tokens` if possible."""
    rows: list[_GrpoRow] = []
    for group in groups:
        answers = [a for a in group.answers if a.active and (divergence or any(a.advantages))]
        rows += _split(group, answers, settings.micro_tokens)
    return rows


def _split(group: GrpoGroup, answers: Sequence[GrpoAnswer], size: int) -> list[_GrpoRow]:
    """Packs answers of a group into rows of at most `size` input ids."""
    lengths = [len(answer.tokens) - 1 for answer in answers]  # the last id is not read
    parts = portions(len(group.prompt), lengths, size)
    return [_GrpoRow(group.prompt, tuple(answers[part]), group.longest) for part in parts]


def _pack(row: _GrpoRow, device: torch.device, weights: Sequence[float]) -> _Packed:
    """weights: of each answer that of its own tokens."""
    bodies = [answer.tokens[:-1] for answer in row.answers]  # the last id predicts nothing
    shared = SharedRow.of(row.prompt, bodies)
    source, at = list[int](), len(row.prompt)
    for answer, body in zip(row.answers, bodies, strict=True):
        before = [len(row.prompt) - 1, *range(at, at + len(body))]
        source += [before[i] for i in answer.own_places]
        at += len(body)
    labels = [answer.tokens[i] for answer in row.answers for i in answer.own_places]
    return _Packed(
        torch.tensor([shared.ids], device=device),
        torch.tensor(shared.positions, device=device),
        shared_mask(torch.tensor([shared.owners], device=device)),
        torch.tensor(source, dtype=torch.long, device=device),
        torch.tensor(labels, dtype=torch.long, device=device),
        torch.tensor([p for a in row.answers for p in a.logprobs], device=device),
        torch.tensor([x for a in row.answers for x in a.advantages], device=device),
        torch.tensor(
            [w for a, w in zip(row.answers, weights, strict=True) for _ in a.logprobs],
            device=device,
        ),
        torch.tensor([i for i, a in enumerate(row.answers) for _ in a.logprobs], device=device),
    )


def _hidden(model: Model, packed: _Packed, precise: bool = False) -> Tensor:
    """Hidden states at the positions that predict the answers' tokens, [L, D]."""
    with nullcontext() if precise else autocast(model.device):
        return model.hidden_states(
            packed.ids, positions=packed.positions, mask=packed.mask, wanted=packed.source
        )


def _shaped(logits: Tensor, settings: GrpoSettings, never: Sequence[int]) -> Tensor:
    """Logits [L, V] of the distribution from which answers are drawn."""
    logits = logits.float() / settings.temperature
    forbidden = torch.tensor(list(never), dtype=torch.long, device=logits.device)
    return logits.index_fill_(1, forbidden, NEVER)


def _token_log_probabilities(
    model: Model,
    packed: _Packed,
    settings: GrpoSettings,
    never: Sequence[int],
    precise: bool = False,
) -> Tensor:
    """Log-probabilities [L] in nats; computes the logits of CHUNK positions at a time."""
    hidden = _hidden(model, packed, precise)
    parts = []
    for start in range(0, len(packed.labels), CHUNK):
        with nullcontext() if precise else autocast(model.device):
            logits = model.logits(hidden[start : start + CHUNK])
        logits = _shaped(logits, settings, never)
        labels = packed.labels[start : start + CHUNK]
        parts.append(-F.cross_entropy(logits, labels, reduction="none"))
    return torch.cat(parts)


@torch.no_grad()
def _reference(
    model: Model | None, packed: _Packed, settings: GrpoSettings, never: Sequence[int]
) -> Tensor | None:
    return None if model is None else _token_log_probabilities(model, packed, settings, never)
