"""Pre-trains on a corpus: packed rows, Muon + AdamW, warm-up-stable-decay schedule.

Exactly resumable: weights, optimizer state, progress and spike statistics are checkpointed together,
and the data order depends only on the seed, the number of batches consumed, and what a curriculum over
sources (sources.py) has learned, which is checkpointed too. The schedule counts
tokens or minutes of training, whichever limit is given. Several processes (`torchrun`) share each
batch. Left out: sharded weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import ConfigError, NumericsError
from engine.model import Model, document_mask
from engine.passes import cross_entropy
from engine.precision import fast_dtype
from engine.storage.checkpoint import load_model
from learning.data.token_stream import TokenStream
from learning.maths.optim import AdamWAlone, MuonAdamW, Optimizers
from learning.objectives.processes import ALONE, ProcessGroup
from learning.pretraining.checkpoint import resume_run, save_run, write_record
from learning.pretraining.held_out import bits_per_byte
from learning.pretraining.settings import Mean, PretrainReport, PretrainSettings, Progress, schedule
from learning.pretraining.sources import SourceCurriculum
from learning.pretraining.spikes import Spikes

LossOf = Callable[[Model, Tensor, Tensor, torch.dtype], Tensor]
REPORT_STEPS = 10


def next_token_loss(model: Model, ids: Tensor, documents: Tensor, kind: torch.dtype) -> Tensor:
    """Mean cross-entropy of the next token within each row, in nats. Attention stays within a document.

    ids, documents: [B, T]. ~id marks a token that is read but not trained on: it adds 0 to the sum of
    losses and 1 to the count that divides it, so that the losses of micro-batches add up. kind: dtype of
    matrix products. Gets torch.compiled, so timing and look-ups stay outside.
    """
    # the last position has no target; it is masked, because slicing would copy and make sizes odd
    targets = F.pad(ids[:, 1:], (0, 1), value=-1)
    with torch.autocast(ids.device.type, kind, enabled=kind != torch.float32):
        read = torch.where(ids < 0, ~ids, ids)
        hidden = model.hidden_states(read, mask=document_mask(documents).to(kind))
        logits = model.logits(hidden)
    return cross_entropy(logits.flatten(0, 1), targets.flatten()).sum() / ids[:, 1:].numel()


def _compiled(loss_of: LossOf) -> LossOf:
    """Compiles at the first call, which raises ConfigError if torch cannot compile here."""
    from torch._dynamo.exc import TorchDynamoException

    fast = torch.compile(loss_of)

    def checked(model: Model, ids: Tensor, documents: Tensor, kind: torch.dtype) -> Tensor:
        try:
            return fast(model, ids, documents, kind)
        except TorchDynamoException as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(
                f"pretrain: torch cannot compile here ({why})",
                "install a C++ compiler, or leave --compile out (--no-compile on a GPU)",
            ) from error

    return checked


def muon_adamw(model: Model, settings: PretrainSettings) -> Optimizers:
    """The default optimizer of pre-training."""
    return MuonAdamW(
        model,
        muon_lr=settings.muon_lr,
        adam_lr=settings.adam_lr,
        weight_decay=settings.weight_decay,
        betas=(0.9, 0.95),
        kind=_precision(model, settings),
    )


def adamw(model: Model, settings: PretrainSettings) -> Optimizers:
    """The optimizer that goes on with a model that talks, whose gradients are of many kinds."""
    return AdamWAlone(
        model, lr=settings.adam_lr, weight_decay=settings.weight_decay, betas=(0.9, 0.98)
    )


def no_more(step: int, rank: int) -> float:
    """Sets no gradients."""
    return 0.0


def pretrain(
    model: Model,
    stream: TokenStream,
    settings: PretrainSettings,
    *,
    folder: Path | None = None,
    report: Callable[[PretrainReport], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    team: ProcessGroup = ALONE,
    optimizer_of: Callable[[Model, PretrainSettings], Optimizers] = muon_adamw,
    also: Callable[[int, int], float] = no_more,
    told: Mapping[str, Any] | None = None,
    special_ids: Collection[int] | None = None,
) -> Progress:
    """Trains the model in place until the limit or until `stop()` is true; resumes from `folder`.

    also: called with the step's number and the process's before each step; sets gradients that those of the
    corpus are added to. `told` goes into the record beside the weights. special_ids: the tokenizer's, see
    save_run. Skips loss spikes and steps that are not finite. Raises NumericsError after three such steps in
    a row that are not finite; ConfigError for inconsistent settings, or if torch should compile and cannot;
    CheckpointError.
    """
    check_rows(settings, model.config.context, team)
    optimizer = optimizer_of(model, settings)
    spikes = Spikes(settings.spike)
    identity = _identity(stream, settings)
    progress = resume_run(model, optimizer, spikes, identity, folder)
    team.share_weights(model)
    loss_of: LossOf = _compiled(next_token_loss) if settings.compile else next_token_loss
    sources = _sources(model, stream, settings, team) if settings.curriculum else None
    if sources and progress.curriculum_state:
        sources.load(progress.curriculum_state)
    batches = stream.batches(
        settings.rows, settings.row, skip=progress.step, share=(team.rank, team.size)
    )
    clock, saved_at = Clock(model.device), progress.seconds

    def save() -> None:
        if sources:
            progress.curriculum, progress.curriculum_state = sources.told(), sources.state()
        if folder and team.leads:
            save_run(model, optimizer, progress, spikes, identity, folder, special_ids)
            write_record(folder, told or {}, model, settings, progress)

    model.train()
    while True:
        progress.seconds, stopping = team.agree(progress.seconds, float(stop()))
        if stopping or progress.done(settings) >= 1.0:
            break
        clock.start()
        rate = schedule(progress.middle(settings), settings.warm_up, settings.decay)
        optimizer.set_rate(rate)
        also(progress.step, team.rank)
        batch = sources.batch(progress.step) if sources else next(batches)
        mine = accumulate(model, *batch, settings, loss_of)
        loss = float(team.average(model, mine))
        norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip))
        if taken := spikes.accept(loss, norm):
            optimizer.step()
        elif spikes.broken >= 3:
            raise NumericsError("pretrain: the loss is not finite", "resume with a smaller rate")
        optimizer.zero_grad()
        seconds = clock.stop()
        progress.step += 1
        progress.tokens += settings.step_tokens
        progress.seconds += seconds
        progress.skipped += not taken
        progress.since.add(loss, loss - loss == 0.0, seconds, settings.step_tokens)
        if progress.step % REPORT_STEPS == 0 or progress.done(settings) >= 1.0:
            report(_entry(progress, settings, rate, sources))
        if progress.seconds - saved_at > settings.checkpoint_minutes * 60:
            save()
            saved_at = progress.seconds
    save()
    team.wait()
    return progress


class Clock:
    """Measures the seconds of a step. Waits for the GPU, which works asynchronously."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._started = 0.0

    def start(self) -> None:
        self._started = self._now()

    def stop(self) -> float:
        return self._now() - self._started

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()


def accumulate(
    model: Model,
    ids: Tensor,
    documents: Tensor,
    settings: PretrainSettings,
    loss_of: LossOf = next_token_loss,
) -> Tensor:
    """Adds the gradients of the mean loss over the rows, in micro-batches; returns that loss in nats.

    ids, documents: [B, T], B a multiple of the micro-batch.
    """
    parts = len(ids) // settings.micro_rows
    total = torch.zeros((), device=model.device)
    kind = _precision(model, settings)
    ids, documents = (t.to(model.device, non_blocking=True) for t in (ids, documents))
    for part_ids, part_documents in zip(ids.chunk(parts), documents.chunk(parts), strict=True):
        loss = loss_of(model, part_ids, part_documents, kind) / parts
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.detach()
    return total


def _sources(
    model: Model, stream: TokenStream, settings: PretrainSettings, team: ProcessGroup
) -> SourceCurriculum:
    """The curriculum over the stream's sources; it measures this model."""

    @torch.no_grad()
    def losses(ids: Tensor, documents: Tensor) -> float:
        kind, total = _precision(model, settings), 0.0
        parts = zip(
            ids.split(settings.micro_rows), documents.split(settings.micro_rows), strict=True
        )
        for some_ids, some_documents in parts:
            rows = some_ids.to(model.device), some_documents.to(model.device)
            total += len(some_ids) * float(next_token_loss(model, *rows, kind))
        return total

    return SourceCurriculum(stream, settings, losses, model.config.vocab_size, team)


def _precision(model: Model, settings: PretrainSettings) -> torch.dtype:
    """The dtype of matrix products."""
    return torch.float32 if settings.fp32 else fast_dtype(model.device.type)


def _entry(
    progress: Progress, settings: PretrainSettings, rate: float, sources: SourceCurriculum | None
) -> PretrainReport:
    """Adds the running mean to the curve, resets it, and returns the report."""
    since, progress.since = progress.since, Mean()
    progress.curve.append((progress.tokens, since.loss, rate, since.rate))
    done = progress.done(settings)
    left = progress.seconds * (1.0 / done - 1.0) if settings.minutes else 0.0
    if settings.tokens and since.rate:
        left = (settings.tokens - progress.tokens) / since.rate
    return PretrainReport(
        progress.step,
        progress.tokens,
        since.loss,
        rate,
        since.rate,
        min(1.0, done),
        max(0.0, left),
        progress.skipped,
        sources.figures() if sources else {},
    )


def check_rows(settings: PretrainSettings, context: int, team: ProcessGroup) -> None:
    """Raises ConfigError if rows are longer than the model's context, in tokens, or do not divide among the
    processes."""
    if settings.row > context:
        raise ConfigError(
            f"pretrain: rows of {settings.row} tokens are longer than the model's context",
            f"give at most {context}",
        )
    if settings.rows % (team.size * settings.micro_rows):
        raise ConfigError(
            f"pretrain: {settings.rows} rows do not divide into {team.size} processes with "
            f"micro-batches of {settings.micro_rows}",
            f"give a multiple of {team.size * settings.micro_rows} rows",
        )


def _identity(stream: TokenStream, settings: PretrainSettings) -> dict[str, Any]:
    """Everything that determines the order of the batches."""
    return {
        "data": stream.corpus.digest,
        **chosen_order(stream.weights, stream.seed, settings),
    }


def chosen_order(
    mixture: Mapping[str, float], seed: int, settings: PretrainSettings
) -> dict[str, Any]:
    """What determines the order of the batches besides the data."""
    chosen = [settings.curriculum, settings.curriculum_rows, settings.curriculum_cost]
    return {
        "mixture": {k: v for k, v in sorted(mixture.items()) if v != 1.0},
        "shuffling seed": seed,
        "row size": settings.row,
        "rows": settings.rows,
        **({"lives": True} if settings.lives else {}),
        **({"curriculum": chosen} if settings.curriculum else {}),
    }


def fresh_model(config: ModelConfig, seed: int) -> Model:
    """A new model with random weights."""
    return Model(config, generator=torch.Generator().manual_seed(seed))


__all__ = [
    "PretrainReport",
    "PretrainSettings",
    "Progress",
    "ProcessGroup",
    "accumulate",
    "adamw",
    "bits_per_byte",
    "fresh_model",
    "load_model",
    "muon_adamw",
    "next_token_loss",
    "pretrain",
    "schedule",
]
