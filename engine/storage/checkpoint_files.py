"""Reads the header of a safetensors file, without torch."""

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
    """The header of a safetensors file: tensor name -> {"dtype", "shape", "data_offsets"}, and
    "__metadata__" if the file has it. Raises CheckpointError if the file is of another kind or
    incomplete."""
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
            raise ValueError("its metadata is not an object")
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
    """The metadata of a safetensors file. Raises CheckpointError as `read_header` does."""
    return {str(k): str(v) for k, v in read_header(path).get(METADATA, {}).items()}


def read_version(path: Path) -> int:
    """The version under which the file's weights were published; 0 if never published. Raises
    CheckpointError."""
    return parse_number(read_metadata(path).get("version"))


def parse_number(found: object) -> int:
    """A version as stored in metadata, a text of digits; 0 if it is anything else."""
    text = found if isinstance(found, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
