"""Finds the files of a model's weights: one whole file, or a base and a delta of the tensors that changed.

`model.safetensors` is a whole file. Without it, `model.safetensors.index.json` maps each tensor to a file:
the base, such as `model-00000003.safetensors` (named by its version), or the delta, such as
`model-00000007.safetensors`. This is Hugging Face's layout of sharded checkpoints, so transformers loads the
folder in both cases. A delta's metadata names its base and the base's checksum; a delta never builds on
another delta. If a crash leaves both `model.safetensors` and an index, `model.safetensors` counts, for
transformers too: publishing a delta is complete once `model.safetensors` is removed. Imports no torch. Left
out: the choice between whole file and delta (learning.models.weights).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CheckpointError, reason
from engine.storage.checkpoint_files import (
    METADATA,
    WEIGHTS,
    parse_number,
    read_header,
    read_metadata,
    read_version,
)
from engine.storage.files import remove_durably, write_atomically
from engine.storage.reading import open_regular, read_json

INDEX = "model.safetensors.index.json"
INDEX_BYTES = 16_000_000
BASE, CHECKSUM, COUNT = "base", "base_checksum", "deltas"
"""Keys of a delta's metadata: its base's version, the SHA-256 of the base's file, and the number of deltas
published since the base."""
_PART = re.compile(r"model-\d{8,18}\.safetensors")


@dataclass(frozen=True)
class WeightFiles:
    """The files of one version of the weights."""

    version: int
    whole: Path
    """The whole file or base, which has all tensors."""
    delta: Path | None = None
    """The delta, whose tensors replace those of the base."""

    @property
    def newest(self) -> Path:
        """The file that was written for this version."""
        return self.delta or self.whole

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.whole,) if self.delta is None else (self.whole, self.delta)

    @property
    def bytes(self) -> int:
        """Size of the files together. Raises OSError."""
        return sum(path.stat().st_size for path in self.paths)


def part_path(folder: Path, version: int) -> Path:
    """The path of the base or delta of that version."""
    return folder / f"model-{version:08d}.safetensors"


def parts_of(folder: Path) -> list[Path]:
    """All bases and deltas in the folder, oldest first, whether the current weights need them or not."""
    try:
        return sorted(path for path in folder.iterdir() if _PART.fullmatch(path.name))
    except OSError:
        return []


def has_weights(folder: Path) -> bool:
    """True if the folder has a whole file or an index. Does not check their contents."""
    return (folder / WEIGHTS).exists() or (folder / INDEX).exists()


def current_files(folder: Path) -> WeightFiles:
    """The files of the folder's current weights. Raises CheckpointError if one is missing or incomplete."""
    whole, index = folder / WEIGHTS, folder / INDEX
    if whole.exists() or not index.exists():
        return WeightFiles(read_version(whole), whole)
    try:
        raw = read_json(index, INDEX_BYTES)
        version = parse_number(raw["metadata"]["version"])
        names = {str(name) for name in raw["weight_map"].values()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(
            f"{index}: does not say which file has the weights ({reason(error)})",
            "roll back with `vidya model rollback`; a model from elsewhere needs `vidya model import`",
        ) from error
    found = files_at(folder, part_path(folder, version))
    if not names <= {path.name for path in found.paths}:
        raise CheckpointError(
            f"{index}: names other files than {found.newest.name} says", "restore a whole copy"
        )
    return found


def current_version(folder: Path) -> int:
    """The version of the current weights; 0 if they were never published. Raises CheckpointError."""
    return current_files(folder).version


def files_at(folder: Path, path: Path) -> WeightFiles:
    """The files of a version. path: a whole file, or a delta whose base is in the folder. Raises
    CheckpointError."""
    record = read_metadata(path)
    version = parse_number(record.get("version"))
    if BASE not in record:
        return WeightFiles(version, path)
    base = part_path(folder, parse_number(record[BASE]))
    try:
        read_header(base)
    except CheckpointError as error:
        raise CheckpointError(
            f"{path}: holds only what changed since {base.name}, which cannot be read ({error.what})",
            f"restore {base.name} from a copy, or go back to weights that do not need it",
        ) from error
    return WeightFiles(version, base, path)


def checksum(path: Path) -> str:
    """SHA-256 of the file, in hexadecimal. Raises CheckpointError."""
    try:
        found = hashlib.sha256()
        with open_regular(path) as file:
            while block := file.read(1 << 20):
                found.update(block)
        return found.hexdigest()
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{path}: cannot be read ({reason(error)})", "restore it from a copy"
        ) from error


def check_base(files: WeightFiles) -> None:
    """Raises CheckpointError if the checksum of the base is not the one in the delta. Reads all of the
    base."""
    if files.delta is None:
        return
    if read_metadata(files.delta).get(CHECKSUM) != checksum(files.whole):
        raise CheckpointError(
            f"{files.delta}: was made from a {files.whole.name} with other contents",
            f"restore {files.whole.name} from a copy, or go back to weights that do not need it",
        )


def index_text(files: WeightFiles) -> str:
    """The contents of the index for a base and its delta. Raises CheckpointError."""
    assert files.delta is not None
    base, delta = read_header(files.whole), read_header(files.delta)
    where = dict.fromkeys(base, files.whole) | dict.fromkeys(delta, files.delta)
    where.pop(METADATA, None)
    size = sum(_bytes((delta if name in delta else base)[name]) for name in where)
    version = str(files.version)
    weight_map = {name: path.name for name, path in sorted(where.items())}
    record = {"metadata": {"total_size": size, "version": version}, "weight_map": weight_map}
    return json.dumps(record, indent=1) + "\n"


def use_delta(folder: Path, files: WeightFiles) -> None:
    """Makes a base and its delta, both already in the folder, the current weights. Raises OSError and
    CheckpointError."""
    write_atomically(folder / INDEX, index_text(files))
    remove_durably(folder / WEIGHTS)


def remove_unneeded(folder: Path, kept: Collection[Path], untouched: float = 0.0) -> None:
    """Removes bases, deltas and an index that neither the current weights nor those at `kept` need. Removes
    nothing if the current weights cannot be read.

    untouched: remove only files that have not changed for this many seconds; 0 if no other program can be
    publishing.
    """
    needed = needed_parts(folder, kept)
    if needed is None:
        return
    spare = [path for path in parts_of(folder) if path not in needed]
    spare += [folder / INDEX] if (folder / WEIGHTS).exists() else []
    for path in spare:
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_ctime >= untouched:
                path.unlink()


def needed_parts(folder: Path, kept: Collection[Path]) -> set[Path] | None:
    """Bases and deltas that the current weights or those in `kept` need; None if the current weights cannot
    be read."""
    try:
        needed = {*current_files(folder).paths}
    except CheckpointError:
        return None
    for path in kept:
        with contextlib.suppress(CheckpointError):
            needed.add(files_at(folder, path).whole)
    return needed


def _bytes(entry: dict[str, list[int]]) -> int:
    first, end = entry["data_offsets"]
    return end - first
