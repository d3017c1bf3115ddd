"""Caches the outputs of a model's frozen lower blocks.

A lesson trains only the upper blocks, so the lower blocks' output for each remembered example is
computed once. Replay, anchor and guard then cost the upper blocks alone. Book training moves all
blocks; after it a new cache is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from engine.model import Model
from engine.precision import autocast
from learning.data.examples import Example, collate, micro_batches

FILL_TOKENS = 2048
"""Padded tokens in one pass through the lower blocks."""


class PrefixCache:
    """Outputs of the first `layers` blocks of a model, whose weights must not change."""

    def __init__(self, model: Model, layers: int) -> None:
        if not 0 <= layers <= len(model.blocks):
            raise ValueError(f"a model of {len(model.blocks)} blocks has no trunk of {layers}")
        self.model, self.layers = model, layers
        self._outputs: dict[tuple[int, ...], Tensor] = {}

    def __len__(self) -> int:
        """Number of cached examples."""
        return len(self._outputs)

    def outputs(self, examples: Sequence[Example]) -> Tensor:
        """[B, T, D] as `collate` pads the examples; padded positions are 0."""
        self.fill(examples)
        rows = [self._outputs[e.ids] for e in examples]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def keep(self, examples: Iterable[Example]) -> None:
        """Drops the outputs of all other examples."""
        wanted = {e.ids for e in examples}
        self._outputs = {ids: x for ids, x in self._outputs.items() if ids in wanted}

    @torch.no_grad()
    def fill(
        self, examples: Sequence[Example], *, pause: Callable[[], None] = lambda: None
    ) -> None:
        """Computes what is missing. `pause` is called before every pass."""
        missing = list({e.ids: e for e in examples if e.ids not in self._outputs}.values())
        for group in micro_batches(missing, FILL_TOKENS):
            pause()
            members = [missing[i] for i in group]
            with autocast(self.model.device):
                x = self.model.trunk(collate(members).ids.to(self.model.device), self.layers)
            for example, row in zip(members, x, strict=True):
                self._outputs[example.ids] = row[: len(example.ids) - 1].float().clone()


class UpperModel:
    """The upper blocks of a model (or of a copy with other upper weights) on cached inputs."""

    def __init__(self, model: Model, trunk: PrefixCache) -> None:
        self.model, self.trunk = model, trunk

    @property
    def device(self) -> torch.device:
        return self.model.device

    def hidden_states(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states, [B, T, D], with gradient through the upper blocks alone."""
        return self.model.above(self.trunk.outputs(examples), self.trunk.layers)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.model.logits(hidden)
