"""Reads model folders from untrusted sources.

Reads regular files of the folder itself only, never links or pipes, and at most a fixed number of bytes of
each. Left out: parsing the files (engine.config, engine.tokenizers, engine.storage.checkpoint).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.storage.adapter_files import ADAPTER_CONFIG
from engine.storage.checkpoint import load_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import size
from engine.storage.reading import JSON_BYTES, open_regular, parse_json, read_regular
from engine.storage.weight_files import INDEX

MOST_SHARDS = 1_000
_SPARE = 64_000_000
"""Bytes allowed beyond the model's own weights: file headers, and tables that older programs saved."""
_ADVICE = "copy the model again, as plain files"


class ForeignFolder:
    """An untrusted folder, which is never written to. Every method but `has` raises CheckpointError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        """Whether the folder has an entry of that name; a broken link counts."""
        return os.path.lexists(self.path / name)

    def read(self, name: str, most: int = JSON_BYTES) -> bytes:
        """The content of a file of at most `most` bytes."""
        try:
            return read_regular(self.path / name, most, links=False)
        except (OSError, ValueError) as error:
            raise self._unreadable(name, error) from error

    def json(self, name: str) -> Any:
        """The parsed content of a JSON file of at most JSON_BYTES."""
        try:
            return parse_json(self.read(name))
        except ValueError as error:
            raise self._unreadable(name, error) from error

    def config(self) -> ModelConfig:
        """Reads `config.json`. Raises ConfigError for an unsupported model, and CheckpointError if its
        weights do not fit into this machine's memory."""
        if not self.has("config.json"):
            raise self._no_model()
        raw = self.json("config.json")
        if not isinstance(raw, dict):
            raise CheckpointError(
                f"{self.path / 'config.json'}: is not an object",
                "it must be the config of a Llama or Qwen3 model",
            )
        config = ModelConfig.from_huggingface(raw)
        demand_memory(self.path, config)
        return config

    def _no_model(self) -> CheckpointError:
        """The error for a folder without `config.json`."""
        if self.has(ADAPTER_CONFIG):
            return CheckpointError(
                f"{self.path}: holds an adapter without its model",
                "import the whole model; `vidya model export` writes it if --adapter is left out",
            )
        return CheckpointError(
            f"{self.path}: is no model, it has no config.json",
            "give the folder of a Llama or Qwen3 model, or a .gguf file",
        )

    def weights(self, config: ModelConfig) -> dict[str, Tensor]:
        """All tensors by name, from `model.safetensors` or from the files that its index lists. The files may
        together have 8 bytes a weight, an untied output layer and _SPARE included."""
        names = [WEIGHTS] if self.has(WEIGHTS) else self._shards()
        left = 8 * (config.parameters + config.vocab_size * config.dim) + _SPARE
        for name in names:
            try:
                with open_regular(self.path / name, left, links=False) as file:
                    left -= os.fstat(file.fileno()).st_size
            except (OSError, ValueError) as error:
                raise self._unreadable(name, error) from error
        try:
            return {k: v for name in names for k, v in load_tensors(self.path / name)[0].items()}
        except CheckpointError as error:  # it may advise a rollback, and here is none
            raise CheckpointError(error.what, "copy or download the model again") from error

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
    """Raises CheckpointError if the model's weights in float32 exceed this machine's memory."""
    needed, there = 4 * config.parameters, _memory()
    if there is not None and needed > there:
        raise CheckpointError(
            f"{path}: its weights would take {size(needed)} of memory, this machine has {size(there)}",
            "choose a smaller model",
        )


def _memory() -> int | None:
    """Physical memory in bytes; None if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
