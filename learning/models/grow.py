"""Grows a taught model into a larger one that computes the same function (engine.grow).

The new model keeps the version number, so the journal counts all its lessons as learned.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import torch

from engine.config import CONFIGS
from engine.errors import ConfigError
from engine.grow import grow
from engine.storage.checkpoint import load_config, load_model, save_model
from engine.storage.weight_files import current_version
from engine.tokenizers.load import load_tokenizer
from learning.models.files import TALK
from learning.models.import_export import LICENCE, check_free
from learning.models.store import ModelInfo, ModelStore


def grow_model(
    store: ModelStore,
    source: str,
    config_name: str,
    name: str | None = None,
    *,
    seed: int = 0,
    pause: Callable[[], None] = lambda: None,
) -> ModelInfo:
    """Grows model `source` to the sizes of CONFIGS[config_name] and installs the result as `name` (default:
    the name of the configuration).

    pause: called between the parts of the work; if it raises, the work ends and nothing is left on disk.
    Raises ConfigError if the configuration does not exist or cannot be reached by growing, NotFound if there
    is no model `source`, CheckpointError if `name` is taken or files cannot be read or written.
    """
    folder = store.resolve(source)
    if config_name not in CONFIGS:
        own = load_config(folder)
        sizes = {n: replace(c, vocab_size=own.vocab_size).parameters for n, c in CONFIGS.items()}
        larger = ", ".join(name for name, size in sizes.items() if size > own.parameters)
        known = f"choose one of: {larger}" if larger else f"{source} is as large as the largest one"
        raise ConfigError(f"config {config_name!r} does not exist", known)
    name = name or config_name
    check_free(store, name)
    pause()
    small = load_model(folder)
    pause()
    large = grow(small, CONFIGS[config_name], generator=torch.Generator().manual_seed(seed))
    if large.config == small.config:
        raise ConfigError(
            f"cannot grow: {source} has the sizes of {config_name} already",
            "choose a configuration that is larger in something",
        )
    version = current_version(folder)
    with store.new_model(name) as new:
        for file in (*load_tokenizer(folder).files(), TALK, LICENCE):
            if (folder / file).exists():
                shutil.copyfile(folder / file, new / file)
        pause()
        record = {"version": str(version), "note": f"grown from {source}"}
        save_model(large, new, dtype=torch.float32, metadata=record)
        pause()
    return store.info(name)
