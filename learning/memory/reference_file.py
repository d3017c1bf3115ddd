"""The file beside the weights that keeps the anchor's reference: the final hidden states of rows of own talk,
and the matrices that lessons move as they were when the states were captured.

A row that the file lacks can be captured with those matrices, so talk.json and this file may be written one
after the other. Left out: capturing (learning.memory.reference).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example

REFERENCE = "voice.safetensors"
HIDDEN, MARK, ROWS = "hidden", "mark", "rows"

RowKey = tuple[object, ...]


def row_key(example: Example) -> RowKey:
    """What the states of a row depend on, besides the weights."""
    return example.ids, example.target


class ReferenceFile:
    """Reads and writes the file in a model's folder. A file that is damaged, or of other weights, counts as
    absent: it is made anew."""

    def __init__(self, folder: Path, mark: str) -> None:
        """mark: of the weights that lessons do not move."""
        self._path, self._mark = folder / REFERENCE, mark

    def states(
        self, talk: Sequence[Example], dim: int, earlier: Callable[[], str]
    ) -> dict[RowKey, Tensor]:
        """The kept states [targets, dim] of those of the rows that the file has. earlier: gives the mark of
        earlier versions, which wrote the states of exactly these rows, without their names or matrices."""
        tensors, record = self._read(without=())
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
        found = {row_key(e): kept.get(_name(e)) for e in talk}
        return {key: part for key, part in found.items() if part is not None}

    def matrices(self) -> dict[str, Tensor]:
        """The matrices by their names in the model; {} if there are none for these weights."""
        tensors, record = self._read(without=(HIDDEN,))
        return tensors if record.get(MARK) == self._mark else {}

    def write(
        self, hidden: Mapping[RowKey, Tensor], matrices: Mapping[str, Tensor], kind: torch.dtype
    ) -> None:
        """kind: dtype of the states and matrices in the file. Raises CheckpointError."""
        rows = [[_named(key), len(part)] for key, part in hidden.items()]
        tensors = {name: matrix.to("cpu", kind) for name, matrix in matrices.items()}
        tensors[HIDDEN] = torch.cat(list(hidden.values())).to("cpu", kind)
        save_tensors(tensors, self._path, {MARK: self._mark, ROWS: json.dumps(rows)})

    def _read(self, without: Sequence[str]) -> tuple[dict[str, Tensor], dict[str, str]]:
        try:
            return load_tensors(self._path, without)
        except CheckpointError:
            return {}, {}


def _name(example: Example) -> str:
    return _named(row_key(example))


def _named(key: RowKey) -> str:
    return hashlib.blake2b(repr(key).encode(), digest_size=16).hexdigest()
