"""What a checkpoint file says of itself, read without torch."""

from __future__ import annotations

import struct
from pathlib import Path

from engine.errors import CheckpointError
from engine.reading import open_regular, parse_json

WEIGHTS = "model.safetensors"
_MAX_HEADER = 100_000_000


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file. Raises CheckpointError for anything else."""
    try:
        with open_regular(path) as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(_MAX_HEADER, path.stat().st_size):
                raise ValueError("its header is longer than the file")
            header = parse_json(file.read(length))
        return {str(k): str(v) for k, v in header.get("__metadata__", {}).items()}
    except (OSError, ValueError, struct.error, AttributeError) as error:
        raise CheckpointError(
            f"{path}: is no whole safetensors file ({error})",
            "it may be cut short: roll back with `vidya model rollback`, or copy it again",
        ) from error


def read_version(path: Path) -> int:
    """The number that the weights were published under; 0 for those that never were."""
    found = read_metadata(path).get("version", "0")
    return int(found) if found.isascii() and found.isdigit() and len(found) < 19 else 0
