"""Passes rows through a model's upper blocks with several rows behind one copy of what they begin with
(learning.memory.packing).

Left out: the lower blocks (learning.memory.prefix_cache).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence

from torch import Tensor

from engine.model import Model
from engine.precision import fast_dtype
from engine.products import product
from learning.data.examples import Example
from learning.memory.packing import pack_rows
from learning.memory.prefix_cache import ROW_TOKENS, PrefixCache, UpperModel

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

    @functools.cached_property
    def _vocabulary(self) -> Tensor:
        """The output layer in the numbers that products are taken in. Many of these models are made and give
        no logits."""
        weight = self.model.vocabulary.detach()
        return weight.to(fast_dtype(weight.device.type))

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        if self._kept is not None and len(self.trunk) > len(self._kept) + OTHERS:
            self.trunk.keep(self._kept)
        packing = pack_rows([e.ids[:-1] for e in examples], ROW_TOKENS)
        return self.model.above(
            packing.pack(self.trunk.outputs(examples)),
            self.trunk.layers,
            positions=packing.positions.to(self.device),
            mask=packing.mask.to(self.device),
            wanted=packing.places([e.places for e in examples]).to(self.device),
        )

    def look_ahead(
        self, examples: Sequence[Example], *, pause: Callable[[], None] = lambda: None
    ) -> None:
        self.trunk.fill(examples, pause=pause)

    def logits(self, hidden: Tensor) -> Tensor:
        return product(hidden.to(self._vocabulary.dtype), self._vocabulary)


def upper_model(model: Model, trunk: PrefixCache, start: int) -> UpperModel:
    """The upper blocks on cached inputs, packed where rows begin with `start` > 0 ids that all share."""
    return PackedRows(model, trunk) if start else UpperModel(model, trunk)
