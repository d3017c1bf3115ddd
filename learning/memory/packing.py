"""Packs rows behind one copy of what they begin with.

A system prompt is the same in every row and longer than most questions; where each row carried it, half of
the work would go into it. Rows see it and themselves, so the numbers are those of separate rows. Left out:
the model that they go through (learning.memory.prefix_cache, learning.memory.packed_rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.precision import fast_dtype
from engine.products import filled_up


@dataclass(frozen=True)
class Packing:
    """Where each of B rows lies in N packed rows of W positions."""

    shared: int
    """Positions that all rows begin with."""
    lengths: tuple[int, ...]
    """Of the rows, [B], the shared beginning included."""
    starts: tuple[tuple[int, int], ...]
    """For each row its packed row and the position in it behind the shared beginning."""
    positions: Tensor
    """[N, W]: for each packed position that in its row."""
    mask: Tensor
    """Additive, [N, 1, W, W]: each row sees the beginning and itself."""

    def pack(self, rows: Tensor) -> Tensor:
        """[B, T, ...], padded on the right, to [N, W, ...]."""
        count, width = self.positions.shape
        packed = rows.new_zeros(count, width, *rows.shape[2:])
        seen = set[int]()
        for index, (length, (row, start)) in enumerate(zip(self.lengths, self.starts, strict=True)):
            if row not in seen:
                packed[row, : self.shared] = rows[index, : self.shared]
                seen.add(row)
            end = start + length - self.shared
            packed[row, start:end] = rows[index, self.shared : length]
        return packed

    def places(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Where positions of the rows, in order, lie in the packed rows flattened to [N · W]."""
        width = self.positions.shape[1]
        places = [
            row * width + (i if i < self.shared else start + i - self.shared)
            for (row, start), own in zip(self.starts, rows, strict=True)
            for i in own
        ]
        return torch.tensor(places, dtype=torch.long)

    def unpack(self, packed: Tensor) -> list[Tensor]:
        """[N, W, ...] to the B rows, each [its length, ...]."""
        return [
            torch.cat(
                [packed[row, : self.shared], packed[row, start : start + length - self.shared]]
            )
            for length, (row, start) in zip(self.lengths, self.starts, strict=True)
        ]


def pack_rows(rows: Sequence[tuple[int, ...]], room: int) -> Packing:
    """Packs rows of ids, in order. room: positions of a packed row at most, where one row does not need
    more."""
    lengths = [len(ids) for ids in rows]
    shared = _shared(rows)
    bins = _bins([length - shared for length in lengths], room - shared)
    width = shared + max(sum(lengths[i] - shared for i in members) for members in bins)
    if fast_dtype("cpu") == torch.bfloat16:
        width = filled_up(width)
    positions = torch.zeros(len(bins), width, dtype=torch.long)
    owner = torch.full((len(bins), width), -1)  # padding sees padding
    starts: list[tuple[int, int]] = [(0, 0)] * len(rows)
    for row, members in enumerate(bins):
        positions[row, :shared], owner[row, :shared] = torch.arange(shared), 0
        start = shared
        for index in members:
            end = start + lengths[index] - shared
            positions[row, start:end] = torch.arange(shared, lengths[index])
            owner[row, start:end] = index + 1
            starts[index], start = (row, start), end
    return Packing(shared, tuple(lengths), tuple(starts), positions, _mask(owner))


def _shared(rows: Sequence[tuple[int, ...]]) -> int:
    """Ids that all rows begin with; of one alone none."""
    if len(rows) < 2:
        return 0
    first, last = min(rows), max(rows)  # what these share all rows between them share
    return next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )


def _bins(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Places in order, as many to a bin as have room in it, at least one."""
    bins: list[list[int]] = []
    left = 0
    for place, size in enumerate(sizes):
        if not bins or size > left:
            bins.append([])
            left = room
        bins[-1].append(place)
        left -= size
    return bins


def _mask(owner: Tensor) -> Tensor:
    """Additive mask [N, 1, T, T] from the owner of each position [N, T]; 0 is what all may see."""
    t = owner.shape[1]
    visible = (owner[:, None, :] == 0) | (owner[:, None, :] == owner[:, :, None])
    visible &= torch.ones(t, t, dtype=torch.bool).tril()
    mask = torch.zeros(visible.shape).masked_fill_(~visible, float("-inf"))
    return mask.unsqueeze(1)
