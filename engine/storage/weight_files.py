"""Which files hold a model's weights: one whole file, or a base and a delta of the tensors that moved since.

`model.safetensors` is a whole file. Where there is none, `model.safetensors.index.json` says which file has
each tensor, as Hugging Face's checkpoints in several files do, so that transformers loads the folder either
way: the base, `model-00000003.safetensors` by its version, or the delta, `model-00000007.safetensors`. A
delta says which base it belongs to, and that file's checksum; it never builds on another delta. Where a crash
leaves both, `model.safetensors` counts, for transformers as for us: a publication that replaces it by a delta
is complete when it is removed. Left out: torch, and which of the two to write (learning.models.weights).
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
"""What a delta says of itself: its base's version, the SHA-256 of that file, and how many deltas were
published since the base."""
_PART = re.compile(r"model-\d{8,18}\.safetensors")


@dataclass(frozen=True)
class WeightFiles:
    """The files of one version of the weights."""

    version: int
    whole: Path
    """Has all tensors."""
    delta: Path | None = None
    """Has those that take the place of the whole file's."""

    @property
    def newest(self) -> Path:
        """The file that was written for this version."""
        return self.delta or self.whole

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.whole,) if self.delta is None else (self.whole, self.delta)

    @property
    def bytes(self) -> int:
        """Raises OSError."""
        return sum(path.stat().st_size for path in self.paths)


def part_path(folder: Path, version: int) -> Path:
    """Where a base or a delta of that version lies."""
    return folder / f"model-{version:08d}.safetensors"


def parts_of(folder: Path) -> list[Path]:
    """All bases and deltas in the folder, whether the current weights need them or not, oldest first."""
    try:
        return sorted(path for path in folder.iterdir() if _PART.fullmatch(path.name))
    except OSError:
        return []


def has_weights(folder: Path) -> bool:
    """Whether the folder has weights, whole or not."""
    return (folder / WEIGHTS).exists() or (folder / INDEX).exists()


def current_files(folder: Path) -> WeightFiles:
    """The files of the folder's current weights. Raises CheckpointError where one is missing or cut short."""
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
    """The number that the current weights were published under; 0 for those that never were. Raises
    CheckpointError."""
    return current_files(folder).version


def files_at(folder: Path, path: Path) -> WeightFiles:
    """The files of the weights in `path`, a whole file or a delta of this folder. Raises CheckpointError."""
    record = read_metadata(path)
    version = parse_number(record.get("version"))
    if BASE not in record:
        return WeightFiles(version, path)
    base = part_path(folder, parse_number(record[BASE]))
    try:
        read_header(base)
    except CheckpointError as error:
        raise CheckpointError(
            f"{path}: holds only what moved since {base.name}, which cannot be read ({error.what})",
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
    """Raises CheckpointError where the delta was made from another base. Reads all of the base."""
    if files.delta is None:
        return
    if read_metadata(files.delta).get(CHECKSUM) != checksum(files.whole):
        raise CheckpointError(
            f"{files.delta}: was made from another {files.whole.name} than lies there",
            f"restore {files.whole.name} from a copy, or go back to weights that do not need it",
        )


def index_text(files: WeightFiles) -> str:
    """What the index says of a base and its delta, in the folder of both. Raises CheckpointError."""
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
    """Makes the base and its delta, both in the folder, the current weights. Raises OSError."""
    write_atomically(folder / INDEX, index_text(files))
    remove_durably(folder / WEIGHTS)


def remove_unneeded(folder: Path, kept: Collection[Path], untouched: float = 0.0) -> None:
    """Removes bases, deltas and an index that neither the current weights nor those at `kept` need; nothing
    where that cannot be told.

    untouched: seconds since they were written or linked, at least, where another program may be publishing.
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
    """Bases and deltas that the current weights or those at `kept` need; None where that cannot be told."""
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
