"""Passes rows through a model's upper blocks with several rows behind one copy of what they begin with.

A system prompt is the same in every row and longer than most questions; where each row carried it, half of
the work would go into it. Rows see it and themselves. The numbers are those of separate rows. Left out: the
lower blocks (learning.memory.prefix_cache).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from engine.model import Model
from engine.precision import fast_dtype
from learning.data.examples import Example
from learning.memory.prefix_cache import PrefixCache, UpperModel

ROW_TOKENS = 320
"""Of one packed row at most, where one example does not need more: attention grows with their square."""
OTHERS = 512
"""Examples that are kept in the cache besides those named."""


class PackedRows(UpperModel):
    """The upper blocks of a model on cached inputs, packed; stands in for a whole model."""

    def __init__(
        self, model: Model, trunk: PrefixCache, kept: Collection[Example] | None = None
    ) -> None:
        """kept: examples that come again; of others the cache lets go. None: of none."""
        super().__init__(model, trunk)
        self._kept = kept
        weight = model.vocabulary.detach()
        self._vocabulary = weight.to(fast_dtype(weight.device.type))

    def hidden_states(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states, [B, T, D], as `collate` pads the examples."""
        if self._kept is not None and len(self.trunk) > len(self._kept) + OTHERS:
            self.trunk.keep(self._kept)
        inputs = self.trunk.outputs(examples)
        lengths = [len(e.ids) - 1 for e in examples]
        shared = _shared([e.ids[:-1] for e in examples])
        bins = _bins([length - shared for length in lengths], ROW_TOKENS - shared)
        width = shared + max(sum(lengths[i] - shared for i in members) for members in bins)
        x = inputs.new_zeros(len(bins), width, inputs.shape[-1])
        positions = torch.zeros(len(bins), width, dtype=torch.long)
        owner = torch.full((len(bins), width), -1)  # padding sees padding
        places: list[tuple[int, int]] = [(0, 0)] * len(examples)
        for row, members in enumerate(bins):
            x[row, :shared] = inputs[members[0], :shared]
            positions[row, :shared], owner[row, :shared] = torch.arange(shared), 0
            start = shared
            for index in members:
                end = start + lengths[index] - shared
                x[row, start:end] = inputs[index, shared : lengths[index]]
                positions[row, start:end] = torch.arange(shared, lengths[index])
                owner[row, start:end] = index + 1
                places[index], start = (row, start), end
        found = self.model.above(
            x,
            self.trunk.layers,
            positions=positions.to(self.device),
            mask=_mask(owner).to(self.device),
        )
        rows = [
            torch.cat([found[row, :shared], found[row, start : start + length - shared]])
            for (row, start), length in zip(places, lengths, strict=True)
        ]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def logits(self, hidden: Tensor) -> Tensor:
        """In the numbers that products are taken in."""
        return torch.nn.functional.linear(hidden.to(self._vocabulary.dtype), self._vocabulary)


def upper_model(model: Model, trunk: PrefixCache, start: int) -> UpperModel:
    """The upper blocks on cached inputs, packed where rows begin with `start` > 0 ids that all share."""
    return PackedRows(model, trunk) if start else UpperModel(model, trunk)


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
