"""A temporary home for one measurement, with its own journal and a copy of the model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import BenchOptions
from learning.home import Home
from learning.models.store import SHIPPED, ModelStore

DEFAULT_MODEL = "10m"


@contextmanager
def scratch_home(options: BenchOptions) -> Iterator[tuple[Home, str]]:
    """Yields (new home, name of its model). Removes the home at the end.

    Without --model it has the shipped model; a named one is copied from the owner's home with its weights,
    but without the journal. Raises NotFound.
    """
    folder = Path(tempfile.mkdtemp(prefix="vidya-bench-"))
    try:
        home = Home(folder)
        yield home, _bring(options, home)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def model_folder(options: BenchOptions, usual: str = DEFAULT_MODEL) -> Path:
    """The folder of the model that was asked for, to read from; without one, of the shipped model `usual`.
    Raises NotFound, and CheckpointError if the model cannot be read."""
    if options.model is None:
        return SHIPPED / usual
    return ModelStore(Home(options.home)).info(options.model).path


def _bring(options: BenchOptions, home: Home) -> str:
    if options.model is None:
        ModelStore(home).resolve(DEFAULT_MODEL)
        return DEFAULT_MODEL
    found = model_folder(options)
    ignored = shutil.ignore_patterns("snapshots", ".*")
    shutil.copytree(found, home.models_path / found.name, ignore=ignored)
    return found.name


def random_model(home: Home, name: str, size: str) -> Path:
    """Creates a model of that size with random weights and the shipped tokenizer."""
    import torch

    from engine.config import CONFIGS
    from engine.model import Model
    from engine.storage.checkpoint import save_model

    folder = home.models_path / name
    folder.mkdir(parents=True)
    save_model(Model(CONFIGS[size], generator=torch.Generator().manual_seed(0)), folder)
    for file in ("tokenizer.tiktoken", "tokenizer_config.json", "talk.json"):
        shutil.copy(SHIPPED / DEFAULT_MODEL / file, folder)
    return folder
