"""Packs rows into arrays, and puts trees of arrays on a device with two copies.

Notation: P ids of the system prompt, R rows, T ids of a row with its padding, N targets of a pack. P + T is a
multiple of 16, which some kernels of a GPU need.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from learning.meta_training.rows import MetaRow

Numbers: TypeAlias = Any
"""A numpy array in the process that makes rows, a tensor on the device after `shipped`. Rows cross processes
as numpy arrays, because torch would open a file for every tensor."""
Tree = TypeVar("Tree")

MICRO_TOKENS = 13_000
"""Most ids of one pass with gradients."""
SHORT = 58
"""Most ids of a row that is packed apart from longer ones."""
FEW = 10
"""With fewer long rows than this all may go into one pack."""
MULTIPLE = 16


@dataclass(frozen=True)
class PackedTargets:
    """What is predicted in a pack. Places are flat, row * T + column, and are those of the outputs."""

    at: Numbers
    """[N] places whose outputs predict the labels."""
    label: Numbers
    """[N] ids."""
    weight: Numbers
    """[N] float32."""
    row: Numbers
    """[N] the rows of these places."""
    held_at: Numbers
    """[M] places whose outputs are held near a reference."""
    held_reference: Numbers
    """[M] the rows of the reference."""
    held_weight: Numbers
    """[M] float32."""


@dataclass(frozen=True)
class PackedBatch:
    """Rows padded on the right. Attention is causal, so no place sees padding."""

    ids: Numbers
    """[R, T] int64, 0 in the padding."""
    targets: PackedTargets


@dataclass(frozen=True)
class Packer:
    """Packs rows of a model whose system prompt has `prefix` ids."""

    prefix: int

    def padded(self, width: int) -> int:
        """The least width from `width` up for which P + T is a multiple of 16."""
        return width + -(width + self.prefix) % MULTIPLE

    def width(self, rows: Sequence[MetaRow]) -> int:
        """T of a pack of these rows. The last id of a row predicts nothing, so it may be left out."""
        return self.padded(max(len(row.ids) for row in rows) - 1)

    def pack(self, rows: Sequence[MetaRow], width: int = 0) -> PackedBatch:
        """The rows, at least one, as arrays; width: T, or 0 for the least."""
        width = width or self.width(rows)
        ids = np.zeros((len(rows), width), np.int64)
        for number, row in enumerate(rows):
            length = min(len(row.ids), width)
            ids[number, :length] = row.ids[:length]
        return PackedBatch(ids, self.targets(rows, width))

    def targets(self, rows: Sequence[MetaRow], width: int) -> PackedTargets:
        """The targets of a pack of these rows."""
        at, label, weight, place = list[int](), list[int](), list[float](), list[int]()
        held_at, reference, held_weight = list[int](), list[int](), list[float]()
        for number, row in enumerate(rows):
            before = number * width - 1
            count = len(row.places)
            if row.reference >= 0:
                held_at += [before + i for i in row.places]
                reference += range(row.reference, row.reference + count)
                held_weight += [row.weight] * count
            else:
                at += [before + i for i in row.places]
                label += [row.ids[i] for i in row.places]
                weight += [row.weight] * count
                place += [number] * count
        return PackedTargets(
            np.array(at, np.int64),
            np.array(label, np.int64),
            np.array(weight, np.float32),
            np.array(place, np.int64),
            np.array(held_at, np.int64),
            np.array(reference, np.int64),
            np.array(held_weight, np.float32),
        )

    def packs(self, rows: Sequence[MetaRow], most: int = MICRO_TOKENS) -> list[PackedBatch]:
        """The short rows, then the long ones, in packs of at most about `most` ids."""
        ordered = sorted(rows, key=lambda row: len(row.ids))
        short = [row for row in ordered if len(row.ids) <= SHORT]
        long = ordered[len(short) :]
        if short and len(long) < FEW and len(ordered) * (len(ordered[-1].ids) + 8) <= most:
            short, long = ordered, []
        found = []
        for part in (short, long):
            while part:
                count = max(1, most // (len(part[-1].ids) + 8))
                count = math.ceil(len(part) / math.ceil(len(part) / count))
                found.append(self.pack(part[:count]))
                part = part[count:]
        return found


def shipped(tree: Tree, device: torch.device) -> Tree:
    """The tree (dataclasses, lists, tuples) with tensors on the device in place of its numpy arrays.

    Arrays of whole numbers become views of one tensor of int64, the others of one of float32.
    """
    whole, real = list[Any](), list[Any]()
    _gather(tree, whole, real)
    return cast(
        Tree,
        _put(tree, iter(_copied(whole, np.int64, device)), iter(_copied(real, np.float32, device))),
    )


def _gather(tree: Any, whole: list[Any], real: list[Any]) -> None:
    if isinstance(tree, np.ndarray):
        (real if tree.dtype == np.float32 else whole).append(tree)
    else:
        for part in _parts(tree):
            _gather(part, whole, real)


def _parts(tree: Any) -> list[Any]:
    if is_dataclass(tree):
        return [getattr(tree, field.name) for field in fields(tree)]
    return list(tree) if isinstance(tree, list | tuple) else []


def _copied(arrays: Sequence[Any], kind: Any, device: torch.device) -> list[Tensor]:
    if not arrays:
        return []
    flat = torch.from_numpy(
        np.concatenate([one.ravel() for one in arrays]).astype(kind, copy=False)
    )
    if device.type == "cuda":
        flat = flat.pin_memory().to(device, non_blocking=True)
    pieces = flat.split([one.size for one in arrays])
    return [piece.view(one.shape) for piece, one in zip(pieces, arrays, strict=True)]


def _put(tree: Any, whole: Any, real: Any) -> Any:
    """In the order of `_gather`."""
    if isinstance(tree, np.ndarray):
        return next(real if tree.dtype == np.float32 else whole)
    if is_dataclass(tree) and not isinstance(tree, type):
        named = {f.name: _put(getattr(tree, f.name), whole, real) for f in fields(tree)}
        return replace(tree, **named)
    if isinstance(tree, list | tuple):
        return type(tree)(_put(part, whole, real) for part in tree)
    return tree
