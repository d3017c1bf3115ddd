"""What a checkpoint file says of itself, read without torch."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, reason
from engine.storage.reading import open_regular, parse_json

WEIGHTS = "model.safetensors"
METADATA = "__metadata__"
_MAX_HEADER = 100_000_000


def read_header(path: Path) -> dict[str, Any]:
    """Name -> {"dtype", "shape", "data_offsets"} of each tensor of a safetensors file, and its
    "__metadata__". Raises CheckpointError for anything else, and for a file that is cut short."""
    try:
        with open_regular(path) as file:
            (length,) = struct.unpack("<Q", file.read(8))
            size = path.stat().st_size
            if length > min(_MAX_HEADER, size):
                raise ValueError("its header is longer than the file")
            header = parse_json(file.read(length))
        ends = [header[name]["data_offsets"][1] for name in header if name != METADATA]
        if size != 8 + length + max(ends, default=0):
            raise ValueError("it is not as long as its header says")
        if not isinstance(header.get(METADATA, {}), dict):
            raise ValueError("what it says of itself is no object")
    except (
        *(OSError, ValueError, struct.error, AttributeError),
        *(TypeError, KeyError, IndexError),
    ) as error:
        raise CheckpointError(
            f"{path}: is no whole safetensors file ({reason(error)})",
            "it may be cut short: roll back with `vidya model rollback`, or copy it again",
        ) from error
    return dict(header)


def read_metadata(path: Path) -> dict[str, str]:
    """What a safetensors file says of itself. Raises CheckpointError as `read_header` does."""
    return {str(k): str(v) for k, v in read_header(path).get(METADATA, {}).items()}


def read_version(path: Path) -> int:
    """The number that the file's weights were published under; 0 for those that never were."""
    return parse_number(read_metadata(path).get("version"))


def parse_number(found: object) -> int:
    """A version as files have it; 0 where it is none."""
    text = found if isinstance(found, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
