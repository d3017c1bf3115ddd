"""Pre-training from scratch on a corpus: packed rows, Muon + AdamW, warm-up, stable, decay.

Resumable: weights, optimizer state and progress are checkpointed; the data order follows from the
seed and the number of batches consumed. The schedule's progress is counted in tokens or in minutes
of training, whichever limit was given. Left out: CUDA and several processes.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.checkpoint import load_model, load_tensors, save_model, save_tensors
from engine.config import ModelConfig
from engine.errors import ConfigError, NumericsError
from engine.model import Model, document_mask
from engine.precision import autocast, fast_dtype
from engine.tokenizer import Tokenizer
from learning.corpus import Document, TokenStream
from learning.optim import MuonAdamW


@dataclass(frozen=True)
class PretrainSettings:
    """How to train. Either `tokens` or `minutes` ends it."""

    tokens: int | None = None
    """Tokens to see in all, those before an interruption included."""
    minutes: float | None = None
    """Minutes to train in all, likewise."""
    row: int = 256
    """Tokens a row."""
    rows: int = 32
    """Rows an optimizer step."""
    micro_rows: int = 8
    """Rows a forward pass; divides rows."""
    muon_lr: float = 0.003
    adam_lr: float = 0.003
    weight_decay: float = 0.05
    warm_up: float = 0.01
    """Share of the run in which the rate rises."""
    decay: float = 0.3
    """Share of the run, at its end, in which the rate falls to 0."""
    seed: int = 0
    compile: bool = False
    """torch.compile: about 1.5 times as fast here, needs a C++ compiler."""
    checkpoint_minutes: float = 5.0

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.minutes is None):
            raise ConfigError("pretrain: give one limit", "--tokens N or --minutes M")
        if self.rows % self.micro_rows:
            raise ConfigError(
                f"pretrain: {self.rows} rows do not divide into micro-batches of {self.micro_rows}",
                "choose a micro-batch that divides the batch",
            )


@dataclass
class Progress:
    """Where a run is; saved with every checkpoint."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Training time, without evaluation and interruptions."""


@dataclass(frozen=True)
class PretrainReport:
    """One line of progress."""

    step: int
    tokens: int
    loss: float
    """Nats per token, mean over the steps since the last report."""
    rate: float
    """Share of the peak learning rate."""
    tokens_per_second: float
    done: float
    """Share of the run, 0 to 1."""


def schedule(done: float, warm_up: float, decay: float) -> float:
    """Warm-up, stable, decay (2405.18392): the share of the peak rate at share `done` of the run."""
    if done < warm_up:
        return done / warm_up
    if done > 1.0 - decay:
        return max(0.0, (1.0 - done) / decay)
    return 1.0


def next_token_loss(model: Model, ids: Tensor, mask: Tensor) -> Tensor:
    """Mean cross-entropy of each next token inside its own row, in nats. ids: [B, T]."""
    with autocast(ids.device):
        hidden = model.hidden_states(ids, mask=mask)[:, :-1]
        logits = model.logits(hidden)
    return F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())


def pretrain(
    model: Model,
    stream: TokenStream,
    settings: PretrainSettings,
    *,
    folder: Path | None = None,
    report: Callable[[PretrainReport], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> Progress:
    """Trains the model in place until the limit, or until `stop` says so; resumes from `folder`.

    Raises NumericsError if the loss is not finite three steps in a row; such steps are skipped.
    """
    optimizer = MuonAdamW(
        model,
        muon_lr=settings.muon_lr,
        adam_lr=settings.adam_lr,
        weight_decay=settings.weight_decay,
        betas=(0.9, 0.95),
    )
    progress = _resume(model, optimizer, folder)
    loss_of: Callable[[Model, Tensor, Tensor], Tensor] = next_token_loss
    if settings.compile:
        loss_of = torch.compile(next_token_loss)
    batches = stream.batches(settings.rows, settings.row, skip=progress.step)
    since, saved_at, bad = _Mean(), progress.seconds, 0
    model.train()
    while (done := _done(progress, settings)) < 1.0 and not stop():
        started = time.perf_counter()
        rate = schedule(done, settings.warm_up, settings.decay)
        optimizer.set_rate(rate)
        loss = _accumulate(model, *next(batches), settings, loss_of)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if math.isfinite(loss) and torch.isfinite(norm):
            optimizer.step()
            bad = 0
        elif (bad := bad + 1) >= 3:
            raise NumericsError("pretrain: the loss is not finite", "resume with a smaller rate")
        optimizer.zero_grad()
        seconds = time.perf_counter() - started
        progress.step += 1
        progress.tokens += settings.rows * settings.row
        progress.seconds += seconds
        since.add(loss, seconds, settings.rows * settings.row)
        if progress.step % 10 == 0:
            report(
                PretrainReport(
                    progress.step,
                    progress.tokens,
                    since.loss,
                    rate,
                    since.rate,
                    _done(progress, settings),
                )
            )
            since = _Mean()
        if folder and progress.seconds - saved_at > settings.checkpoint_minutes * 60:
            _checkpoint(model, optimizer, progress, settings, folder)
            saved_at = progress.seconds
    if folder:
        _checkpoint(model, optimizer, progress, settings, folder)
    return progress


class _Mean:
    """Running mean of loss and speed between two reports."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._seconds = 0.0
        self._tokens = 0

    def add(self, loss: float, seconds: float, tokens: int) -> None:
        self._losses.append(loss)
        self._seconds += seconds
        self._tokens += tokens

    @property
    def loss(self) -> float:
        return sum(self._losses) / len(self._losses)

    @property
    def rate(self) -> float:
        return self._tokens / self._seconds


def _done(progress: Progress, settings: PretrainSettings) -> float:
    if settings.tokens is not None:
        return progress.tokens / settings.tokens
    return progress.seconds / (60.0 * (settings.minutes or 1.0))


def _accumulate(
    model: Model,
    ids: Tensor,
    documents: Tensor,
    settings: PretrainSettings,
    loss_of: Callable[[Model, Tensor, Tensor], Tensor],
) -> float:
    """Gradients of the mean loss over the whole batch; returns that loss."""
    parts = settings.rows // settings.micro_rows
    total = 0.0
    for part_ids, part_documents in zip(ids.chunk(parts), documents.chunk(parts), strict=True):
        loss = loss_of(model, part_ids, document_mask(part_documents).to(fast_dtype(part_ids.device.type))) / parts
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    return total


def _checkpoint(
    model: Model, optimizer: MuonAdamW, progress: Progress, settings: PretrainSettings, folder: Path
) -> None:
    """One file holds weights, optimizer and progress, so that they can never disagree."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model/{k}": v for k, v in model.state_dict().items()}
    tensors |= {f"optimizer/{k}": v for k, v in optimizer.tensors()}
    record = {"progress": json.dumps(asdict(progress)), "settings": json.dumps(asdict(settings))}
    save_tensors(tensors, folder / "training.safetensors", record)
    save_model(model, folder)


def _resume(model: Model, optimizer: MuonAdamW, folder: Path | None) -> Progress:
    path = folder / "training.safetensors" if folder else None
    if path is None or not path.exists():
        return Progress()
    tensors, record = load_tensors(path)
    model.load_state_dict(
        {k.removeprefix("model/"): v for k, v in tensors.items() if k.startswith("model/")}
    )
    optimizer.restore(
        {k.removeprefix("optimizer/"): v for k, v in tensors.items() if k.startswith("optimizer/")}
    )
    return Progress(**json.loads(record["progress"]))


@torch.no_grad()
def bits_per_byte(
    model: Model,
    tokenizer: Tokenizer,
    documents: Sequence[Document],
    *,
    row: int = 256,
    limit: int = 60_000,
) -> dict[str, float]:
    """Held-out bits per byte of text by source, and "all". At most `limit` tokens a source are read.

    Bytes are those of the messages; the special tokens' bits are charged to them.
    """
    by_source: dict[str, list[Document]] = {}
    for document in documents:
        by_source.setdefault(document.source, []).append(document)
    result, all_bits, all_bytes = {}, 0.0, 0
    model.eval()
    for source, members in sorted(by_source.items()):
        bits, size = 0.0, 0
        for ids, documents_of, bytes_read in _eval_rows(members, tokenizer, row, limit):
            with autocast(model.device):
                hidden = model.hidden_states(
                    ids, mask=document_mask(documents_of).to(fast_dtype(model.device.type))
                )
                logits = model.logits(hidden[:, :-1])
            nats = F.cross_entropy(
                logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
            )
            real = documents_of[:, 1:].flatten() >= 0
            bits += float(nats[real].sum()) / math.log(2)
            size += bytes_read
        if size:
            result[source] = bits / size
            all_bits, all_bytes = all_bits + bits, all_bytes + size
    if all_bytes:
        result["all"] = all_bits / all_bytes
    return result


def _eval_rows(
    documents: Sequence[Document], tokenizer: Tokenizer, row: int, limit: int
) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Batches of up to 16 documents, each in a row of its own from its beginning (cut at `row`);
    padding has document number -1. The bytes are those whose bits are counted."""
    from engine.chat_format import encode_chat, encode_document

    batch: list[list[int]] = []
    size = used = 0
    for document in documents:
        encoded = (
            encode_chat(tokenizer, document.turns)
            if document.turns
            else encode_document(tokenizer, document.text)
        )
        ids = encoded.ids[:row]
        batch.append(ids)
        size += len(tokenizer.decode_bytes(ids))
        used += len(ids)
        if len(batch) == 16 or used >= limit:
            yield (*_pad(batch), size)
            batch, size = [], 0
        if used >= limit:
            return
    if batch:
        yield (*_pad(batch), size)


def _pad(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    width = max(2, max(map(len, rows)))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    owners = torch.full((len(rows), width), -1)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        owners[i, : len(row)] = i
    return ids, owners


def fresh_model(config: ModelConfig, seed: int) -> Model:
    """A new model with random weights."""
    return Model(config, generator=torch.Generator().manual_seed(seed))


__all__ = [
    "PretrainReport",
    "PretrainSettings",
    "Progress",
    "bits_per_byte",
    "fresh_model",
    "load_model",
    "next_token_loss",
    "pretrain",
    "schedule",
]
