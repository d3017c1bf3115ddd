"""Tells models of the same name apart by a hash of their weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks import BenchOptions
from benchmarks.common.scratch import DEFAULT_MODEL, model_folder
from engine.storage.checkpoint import load_weights
from engine.storage.weight_files import current_files, files_at


def fingerprint(weights: Path, files: Sequence[Path] = ()) -> str:
    """A hash of a model's weights and of data, 12 hexadecimal digits. weights: the newest file of a version.
    Only rows with the same hash go into one table. Raises CheckpointError.

    Hashes the tensors, not their file, in which the order may differ, so that a model which is grown again
    for each run has the same fingerprint."""
    digest = hashlib.sha256()
    tensors = load_weights(files_at(weights.parent, weights))
    for name in sorted(tensors):
        digest.update(
            name.encode() + tensors[name].contiguous().view(torch.uint8).numpy().tobytes()
        )
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def fingerprint_of(options: BenchOptions, usual: str = DEFAULT_MODEL) -> str:
    """The hash of the weights that a benchmark starts from. usual: the shipped model that the benchmark uses
    if `options` names no model. Raises NotFound and CheckpointError."""
    return fingerprint(current_files(model_folder(options, usual)).newest)
