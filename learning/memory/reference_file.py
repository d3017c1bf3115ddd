"""The file beside the weights that keeps the anchor's reference: the final hidden states of rows of own talk,
and the matrices that lessons move as they were when the states were captured.

A row that the file lacks can be captured with those matrices, so talk.json and this file may be written one
after the other. Left out: capturing (learning.memory.reference).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.model import Model
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example
from learning.models.files import REFERENCE, REFERENCE_VERSION, version_told
from learning.models.trainable import Trainable

HIDDEN, MARK, ROWS = "hidden", "mark", "rows"

RowKey = tuple[object, ...]


def row_key(example: Example) -> RowKey:
    """What the states of a row depend on, besides the weights."""
    return example.ids, example.target


@dataclass(frozen=True)
class ReferenceWeights:
    """The matrices that lessons move, as they were when the reference was first captured."""

    version: int | None
    """Of the weights at that time, if all rows of own talk were sampled from them or from weights that they
    were trained from; None: rows may come from other weights."""
    matrices: dict[str, Tensor]
    """Name in the model -> matrix."""

    def cast(self, like: Model) -> dict[str, Tensor]:
        """The matrices with that model's device and dtype."""
        return {name: x.to(like.device, like.dtype) for name, x in self.matrices.items()}


class ReferenceFile:
    """Reads and writes the file in a model's folder. A file that is damaged, or of other weights, counts as
    absent: it is made anew."""

    def __init__(self, folder: Path, mark: str, moved: Trainable) -> None:
        """mark: of the weights that lessons do not move. moved: the matrices that they move."""
        self._path, self._mark = folder / REFERENCE, mark
        self._shapes = {name: moved.model.get_parameter(name).shape for name in moved.names}

    def states(
        self, talk: Sequence[Example], dim: int, earlier: Callable[[], str]
    ) -> dict[RowKey, Tensor]:
        """The kept states [targets, dim] of those of the rows that the file has, whole and finite. earlier:
        gives the mark of earlier versions, which wrote the states of exactly these rows, without their names
        or matrices."""
        tensors, record = self._read(without=self._shapes)
        hidden, names = tensors.get(HIDDEN), record.get(ROWS)
        try:
            if names is not None and record.get(MARK) == self._mark:
                rows = [(str(name), int(targets)) for name, targets in json.loads(names)]
            elif hidden is not None and names is None and record.get(MARK) == earlier():
                rows = [(_name(e), len(e.places)) for e in talk]
            else:
                return {}
            if hidden is None or hidden.shape != (sum(targets for _, targets in rows), dim):
                return {}
            parts = hidden.split([targets for _, targets in rows])
        except (ValueError, TypeError, RuntimeError):
            return {}
        kept = {name: part for (name, _), part in zip(rows, parts, strict=True)}
        found = {row_key(e): (kept.get(_name(e)), e.targets) for e in talk}
        return {
            key: part
            for key, (part, targets) in found.items()
            if part is not None and len(part) == targets and bool(part.isfinite().all())
        }

    def weights(self) -> ReferenceWeights | None:
        """The matrices that lessons move, as they were at the first capture; None if the file does not have
        all of them, finite and of these weights."""
        matrices, record = self._read(without=(HIDDEN,))
        shapes = {name: matrix.shape for name, matrix in matrices.items()}
        if record.get(MARK) != self._mark or shapes != self._shapes:
            return None
        if not all(x.is_floating_point() and bool(x.isfinite().all()) for x in matrices.values()):
            return None
        return ReferenceWeights(version_told(record), matrices)

    def write(
        self, hidden: Mapping[RowKey, Tensor], weights: ReferenceWeights, kind: torch.dtype
    ) -> None:
        """kind: dtype of the states and matrices in the file. Raises CheckpointError."""
        rows = [[_named(key), len(part)] for key, part in hidden.items()]
        tensors = {name: matrix.to("cpu", kind) for name, matrix in weights.matrices.items()}
        tensors[HIDDEN] = torch.cat(list(hidden.values())).to("cpu", kind)
        record = {MARK: self._mark, ROWS: json.dumps(rows)}
        if weights.version is not None:
            record[REFERENCE_VERSION] = str(weights.version)
        save_tensors(tensors, self._path, record)

    def _read(self, without: Collection[str]) -> tuple[dict[str, Tensor], dict[str, str]]:
        try:
            return load_tensors(self._path, without)
        except CheckpointError:
            return {}, {}


def _name(example: Example) -> str:
    return _named(row_key(example))


def _named(key: RowKey) -> str:
    return hashlib.blake2b(repr(key).encode(), digest_size=16).hexdigest()
