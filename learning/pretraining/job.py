"""Prepares a run of `vidya pretrain`: tokenizer, tokenised corpus, model, and a default limit.

By default the run uses vidya's own tokenizer. It is byte-level, so it can encode any text, needs no
further package, and keeps models comparable. A new tokenizer pays off for another language.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from engine.config import CONFIGS, ModelConfig
from engine.errors import ConfigError, DataError
from engine.model import Model
from engine.storage.checkpoint import load_config, load_model
from engine.storage.weight_files import current_version, has_weights
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import data_files, read_documents
from learning.data.token_cache import cached_tokens
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus
from learning.models.plain_text import TALKS, continues_only
from learning.models.store import SHIPPED
from learning.objectives.processes import ALONE, ProcessGroup
from learning.pretraining.checkpoint import TRAINING, refuse_taught
from learning.pretraining.held_out import bits_of_tokens
from learning.pretraining.loop import fresh_model
from learning.text.normalise import writable

PASSES = 4
"""Default limit: passes over the data. Up to four are nearly as good as new text (arXiv 2305.16264)."""
TOKENS_PER_WEIGHT = 20
"""Upper bound of the default limit, in tokens per weight (arXiv 2203.15556)."""
LEAST = 1_000_000
"""Lower bound of the default limit, in tokens; with fewer the model cannot even spell."""


@dataclass(frozen=True)
class Job:
    """What to train, on which data. Raises ConfigError or DataError for impossible values."""

    data: tuple[Path, ...]
    out: Path
    """Folder for the model and its checkpoint."""
    config: str = "10m"
    start: Path | None = None
    """Folder of a model (with its tokenizer) from which to start; None: random weights."""
    new_tokenizer: bool = False
    """Train a tokenizer on the data instead of using vidya's own."""
    cache: Path | None = None
    """Folder for tokenised files; None: out/cache."""
    mixture: Mapping[str, float] = field(default_factory=dict)
    """Source -> passes over it per pass over the data, >= 0; sources not listed have 1."""
    skip_bad: bool = False
    """Report and skip bad rows instead of raising."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.config not in CONFIGS:
            raise ConfigError(
                f"config {self.config!r} does not exist", f"choose one of: {', '.join(CONFIGS)}"
            )
        for name, weight in self.mixture.items():
            if not (math.isfinite(weight) and weight >= 0.0):
                raise DataError(
                    f"the mixture's weight of {name!r} is {weight}", "give 0 or more passes"
                )

    def context(self) -> int:
        """The model's context, in tokens. Raises CheckpointError or ConfigError for an unreadable model."""
        config = CONFIGS[self.config] if self.start is None else load_config(self.start)
        return config.context


@dataclass(frozen=True)
class PreparedRun:
    """Everything that a job needs to start training."""

    model: Model
    tokenizer: Tokenizer
    stream: TokenStream
    files: tuple[Path, ...]
    talks: bool
    """True if the data, or that of the model it starts from, contains conversations."""

    def measure(self) -> dict[str, float]:
        """Held-out bits per byte by source."""
        row = min(256, self.model.config.context)
        return bits_of_tokens(self.model, self.tokenizer, self.stream.corpus.held_out(), row=row)

    def told(self, before: Mapping[str, float]) -> dict[str, Any]:
        """Facts on data, tokenizer and held-out measurement for the run's record. before: `measure` of
        the model before the run."""
        corpus = self.stream.corpus
        return {
            "data": {
                "files": {
                    writable(file.name): part.digest
                    for file, part in zip(self.files, corpus.parts, strict=True)
                },
                "digest": corpus.digest,
                "tokens": corpus.tokens(),
                "tokens_held_out": corpus.tokens(held=True),
                "sources": corpus.by_source(),
                "mixture": dict(self.stream.weights),
                TALKS: self.talks,
            },
            "tokenizer": {
                "vocabulary": self.tokenizer.vocab_size,
                "digest": self.tokenizer.fingerprint(),
            },
            "held_out_bits_per_byte": {"before": dict(before)},
        }


def prepare(
    job: Job,
    device: str,
    team: ProcessGroup = ALONE,
    say: Callable[[str], None] = lambda _: None,
) -> PreparedRun:
    """Reads the data and creates or loads the model. The first process of a team runs ahead, so that
    the others find the tokenised files in the cache. Raises VidyaError."""
    if not team.leads:
        team.wait()
    files = data_files(job.data)
    tokenizer = _tokenizer(job, files, team, say)
    corpus = _corpus(job, files, tokenizer, say if team.leads else lambda _: None)
    if team.leads:
        tokenizer.save(job.out)
        team.wait()
    stream = TokenStream(corpus, weights=job.mixture, seed=job.seed)
    model = _model(job, tokenizer).to(device)
    talks = corpus.conversations(tokenizer.chat.assistant_head)
    if job.start is not None:
        talks = talks or not continues_only(job.start, current_version(job.start))
    return PreparedRun(model, tokenizer, stream, tuple(files), talks)


def default_out(models: Path, data: Path) -> Path:
    """The default folder under `models`, named after the data file. Raises ConfigError if that is the
    name of a model that comes with vidya, or empty."""
    name = Path(os.path.abspath(data)).name.split(".")[0]
    if not name or (SHIPPED / name).exists():
        wrong = (
            f"{name!r} is a model that comes with vidya" if name else "it has no name for a model"
        )
        raise ConfigError(f"{data}: {wrong}", "choose a folder with --out")
    return models / name


def check_out(out: Path) -> None:
    """Raises ConfigError if the folder holds a model without a checkpoint to resume, or one that has
    learned lessons, which the run would overwrite."""
    if has_weights(out) and not (out / TRAINING).exists():
        raise ConfigError(f"{out}: there is a model already", "choose another folder with --out")
    refuse_taught(out)


def default_tokens(stream: TokenStream, config: ModelConfig) -> int:
    """The default limit in tokens: PASSES passes, at most TOKENS_PER_WEIGHT a weight, at least LEAST."""
    return max(LEAST, min(PASSES * stream.tokens_per_pass, TOKENS_PER_WEIGHT * config.parameters))


def micro_rows(rows: int, team: ProcessGroup, device: str) -> int:
    """The largest micro-batch, in rows, that divides a process's rows: at most 64 on a GPU, 8 on a CPU.
    Raises ConfigError if the rows do not divide among the processes."""
    if rows % team.size:
        raise ConfigError(
            f"pretrain: {rows} rows do not divide among {team.size} processes",
            f"give a multiple of {team.size} with --rows",
        )
    own = max(1, rows // team.size)
    most = 64 if torch.device(device).type == "cuda" else 8
    return max(n for n in range(1, most + 1) if own % n == 0)


def _tokenizer(
    job: Job, files: list[Path], team: ProcessGroup, say: Callable[[str], None]
) -> Tokenizer:
    """The tokenizer of the run that is resumed, of the first process, of the model to start from, or
    vidya's own; else a new one."""
    if not team.leads or (job.out / TRAINING).exists():
        return load_tokenizer(job.out)
    if job.start is not None:
        return load_tokenizer(job.start)
    if not job.new_tokenizer:
        return load_tokenizer(SHIPPED / "10m")
    size = CONFIGS[job.config].vocab_size
    say(f"training a tokenizer of {size} tokens")
    return train_tokenizer(_texts(job, files), size)


def _texts(job: Job, files: list[Path]) -> Iterator[str]:
    """The text that trains a new tokenizer: the training documents without those held out."""
    for file in files:
        for document in read_documents(file, (lambda _: None) if job.skip_bad else None):
            if not document.held_out and job.mixture.get(document.source, 1.0) > 0:
                yield from filter(None, [document.text, *(text for _, text in document.turns)])


def _corpus(
    job: Job, files: list[Path], tokenizer: Tokenizer, say: Callable[[str], None]
) -> Corpus:
    parts = []
    for file in files:
        on_bad = (lambda error: say(f"passed over {error.what}")) if job.skip_bad else None
        parts.append(cached_tokens(file, tokenizer, job.cache or job.out / "cache", on_bad=on_bad))
    corpus = Corpus(parts)
    if not corpus.tokens():
        names = ", ".join(str(path) for path in job.data)
        raise DataError(
            f"{names}: too little text to learn from", "give text, or rows of turns or text"
        )
    return corpus


def _model(job: Job, tokenizer: Tokenizer) -> Model:
    if job.start is not None:
        return load_model(job.start)
    config = replace(CONFIGS[job.config], vocab_size=tokenizer.vocab_size)
    return fresh_model(config, job.seed)
