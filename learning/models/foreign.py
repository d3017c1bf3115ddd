"""The one reader of model folders that come from elsewhere: whoever made it may mean harm.

Only regular files in the folder itself are read, no links and no pipes, each up to a size that follows
from what it is. Left out: what the files say (engine.config, engine.tokenizers,
engine.storage.checkpoint).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import size
from engine.storage.reading import JSON_BYTES, open_regular, parse_json, read_regular
from engine.storage.weight_files import INDEX

MOST_SHARDS = 1_000
_SPARE = 64_000_000
"""Bytes that weights may take besides the model's own: headers, tables that older programs kept."""
_ADVICE = "copy the model again, as plain files"


class ForeignFolder:
    """A folder that is read and never written. Every method raises CheckpointError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        """Whether there is anything of that name, a link that leads nowhere too."""
        return os.path.lexists(self.path / name)

    def read(self, name: str, most: int = JSON_BYTES) -> bytes:
        """All bytes of a file."""
        try:
            return read_regular(self.path / name, most, links=False)
        except (OSError, ValueError) as error:
            raise self._unreadable(name, error) from error

    def json(self, name: str) -> Any:
        """The value in a file."""
        try:
            return parse_json(self.read(name))
        except ValueError as error:
            raise self._unreadable(name, error) from error

    def config(self) -> ModelConfig:
        """Raises ConfigError too."""
        raw = self.json("config.json")
        if not isinstance(raw, dict):
            raise CheckpointError(
                f"{self.path / 'config.json'}: is not an object",
                "it must be the config of a Llama or Qwen3 model",
            )
        config = ModelConfig.from_huggingface(raw)
        demand_memory(self.path, config)
        return config

    def weights(self, config: ModelConfig) -> dict[str, Tensor]:
        """The tensors of one file, or of the several that an index names."""
        names = [WEIGHTS] if self.has(WEIGHTS) else self._shards()
        left = 8 * (config.parameters + config.vocab_size * config.dim) + _SPARE
        for name in names:
            try:
                with open_regular(self.path / name, left, links=False) as file:
                    left -= os.fstat(file.fileno()).st_size
            except (OSError, ValueError) as error:
                raise self._unreadable(name, error) from error
        return {k: v for name in names for k, v in load_tensors(self.path / name)[0].items()}

    def _shards(self) -> list[str]:
        raw = self.json(INDEX)
        found = raw.get("weight_map") if isinstance(raw, dict) else None
        names = list(found.values()) if isinstance(found, dict) else []
        if not names or not all(isinstance(name, str) for name in names):
            raise self._unreadable(INDEX, ValueError("it names no files"))
        if any(Path(name).name != name or "\0" in name for name in names):
            raise self._unreadable(INDEX, ValueError("it names a file outside of the folder"))
        if len(set(names)) > MOST_SHARDS:
            raise self._unreadable(
                INDEX, ValueError(f"the files that it names are more than {MOST_SHARDS}")
            )
        return sorted(set(names))

    def _unreadable(self, name: str, error: Exception) -> CheckpointError:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return CheckpointError(f"{self.path / name}: cannot be read ({reason})", _ADVICE)


def demand_memory(path: Path, config: ModelConfig) -> None:
    """Raises CheckpointError where this machine has not the memory for a model's weights in float32."""
    needed, there = 4 * config.parameters, _memory()
    if there is not None and needed > there:
        raise CheckpointError(
            f"{path}: its weights would take {size(needed)} of memory, this machine has {size(there)}",
            "choose a smaller model",
        )


def _memory() -> int | None:
    """Bytes of this machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
