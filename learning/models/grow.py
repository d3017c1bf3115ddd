"""A larger model out of a taught one, with all that it knows: the same weights, function-preservingly
grown (engine.grow), under the same version, so that the journal's lessons count as learned in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

import torch

from engine.config import CONFIGS
from engine.errors import ConfigError
from engine.grow import grow
from engine.storage.checkpoint import load_model, save_model
from engine.storage.weight_files import current_version
from learning.models.files import TALK
from learning.models.import_export import TOKENIZER, check_free
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
    """Grows model `source` of the home to CONFIGS[config_name] and installs it as `name` (the
    configuration's if left out); whole or not there. Raises ConfigError, CheckpointError, NotFound.

    pause: called between the parts of the work; what it raises ends it, and nothing is left behind.
    """
    if config_name not in CONFIGS:
        raise ConfigError(
            f"config {config_name!r} does not exist", f"choose one of: {', '.join(CONFIGS)}"
        )
    name = name or config_name
    check_free(store, name)
    folder = store.resolve(source)
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
        for file in (*TOKENIZER, TALK):
            if (folder / file).exists():
                shutil.copyfile(folder / file, new / file)
        pause()
        record = {"version": str(version), "note": f"grown from {source}"}
        save_model(large, new, dtype=torch.float32, metadata=record)
        pause()
    return store.info(name)
