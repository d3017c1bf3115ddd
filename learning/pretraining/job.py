"""What `vidya pretrain` prepares: tokenizer, tokenised corpus, model, and a limit where none is given.

The tokenizer that comes with vidya is used unless a new one is asked for: it is byte-level, so any
text can be written with it, it needs no further package, and models stay comparable. A new one is
worth it for another language.
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
from engine.storage.checkpoint import load_model
from engine.storage.checkpoint_files import WEIGHTS, read_version
from engine.tokenizers.ranks import train_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import data_files, read_documents
from learning.data.token_cache import cached_tokens
from learning.data.token_stream import TokenStream
from learning.data.tokens import Corpus
from learning.models.plain_text import TALKS, continues_only
from learning.models.store import SHIPPED
from learning.pretraining.checkpoint import TRAINING, refuse_taught
from learning.pretraining.distributed import ALONE, ProcessGroup
from learning.pretraining.held_out import bits_of_tokens
from learning.pretraining.loop import fresh_model
from learning.text.normalise import writable

PASSES = 4
"""Passes over the data without a limit given: up to four are nearly as good as new text (2305.16264)."""
TOKENS_PER_WEIGHT = 20
"""Most tokens a weight without a limit given (2203.15556)."""
LEAST = 1_000_000
"""Fewest tokens without a limit given: with less the model cannot even spell."""


@dataclass(frozen=True)
class Job:
    """What to train on what."""

    data: tuple[Path, ...]
    out: Path
    config: str = "10m"
    start: Path | None = None
    """Folder of a model to go on from, with its tokenizer."""
    new_tokenizer: bool = False
    cache: Path | None = None
    """Folder for tokenised files; None: in `out`."""
    mixture: Mapping[str, float] = field(default_factory=dict)
    skip_bad: bool = False
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


@dataclass(frozen=True)
class PreparedRun:
    """A job that can begin."""

    model: Model
    tokenizer: Tokenizer
    stream: TokenStream
    files: tuple[Path, ...]
    talks: bool
    """There are conversations in the data, or were in that of the model to go on from."""

    def measure(self) -> dict[str, float]:
        """Held-out bits per byte by source."""
        row = min(256, self.model.config.context)
        return bits_of_tokens(self.model, self.tokenizer, self.stream.corpus.held_out(), row=row)

    def told(self, before: Mapping[str, float]) -> dict[str, Any]:
        """What the run's record says of the data."""
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
    """Reads the data and makes or loads the model. The first process of a team goes ahead, so that
    the others find the tokenised files. Raises VidyaError."""
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
        talks = talks or not continues_only(job.start, read_version(job.start / WEIGHTS))
    return PreparedRun(model, tokenizer, stream, tuple(files), talks)


def default_out(models: Path, data: Path) -> Path:
    """The folder for a model of the data: named like it, among `models`. Raises ConfigError where it
    would stand in the way of a model that comes with vidya, or have no name."""
    name = Path(os.path.abspath(data)).name.split(".")[0]
    if not name or (SHIPPED / name).exists():
        wrong = (
            f"{name!r} is a model that comes with vidya" if name else "it has no name for a model"
        )
        raise ConfigError(f"{data}: {wrong}", "choose a folder with --out")
    return models / name


def check_out(out: Path) -> None:
    """Raises ConfigError where the folder holds a model that is no run to go on with, or one that
    was taught since: going on would write over its lessons."""
    if (out / WEIGHTS).exists() and not (out / TRAINING).exists():
        raise ConfigError(f"{out}: there is a model already", "choose another folder with --out")
    refuse_taught(out)


def default_tokens(stream: TokenStream, config: ModelConfig) -> int:
    """How long to train where nobody said: four passes, within reason."""
    return max(LEAST, min(PASSES * stream.tokens_per_pass, TOKENS_PER_WEIGHT * config.parameters))


def micro_rows(rows: int, team: ProcessGroup, device: str) -> int:
    """The largest micro-batch that fits the device's memory and divides a process's rows. Raises
    ConfigError where the processes cannot share the rows."""
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
    """That of the run where there is one to go on with, or of the process that went ahead."""
    if not team.leads or (job.out / TRAINING).exists():
        return Tokenizer.load(job.out)
    if job.start is not None:
        return Tokenizer.load(job.start)
    if not job.new_tokenizer:
        return Tokenizer.load(SHIPPED / "10m")
    size = CONFIGS[job.config].vocab_size
    say(f"training a tokenizer of {size} tokens")
    return train_tokenizer(_texts(job, files), size)


def _texts(job: Job, files: list[Path]) -> Iterator[str]:
    """The text that a new tokenizer is made of: all that is trained on, nothing held out."""
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
