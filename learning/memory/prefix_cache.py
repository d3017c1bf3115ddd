"""Caches the outputs of a model's frozen lower blocks.

A lesson trains only the upper blocks, so the lower blocks' output for each remembered example is
computed once. Replay, anchor and guard then cost the upper blocks alone. Book training moves all
blocks; after it a new cache is made.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.model import Model
from engine.precision import autocast, fast_dtype
from engine.storage.checkpoint import load_tensors, save_tensors
from learning.data.examples import Example, collate, micro_batches
from learning.memory.packing import pack_rows

LARGE = 100_000_000
"""Of a model with more weights outputs are kept in bfloat16, on disk too (`save`): making them takes a
minute."""
FILL_TOKENS = 2048
"""Padded tokens in one pass through the lower blocks."""
ROW_TOKENS = 320
"""Of one packed row at most, where one example does not need more: attention grows with their square."""


class PrefixCache:
    """Outputs of the first `layers` blocks of a model, whose weights must not change."""

    def __init__(self, model: Model, layers: int) -> None:
        if not 0 <= layers <= len(model.blocks):
            raise ValueError(f"a model of {len(model.blocks)} blocks has no trunk of {layers}")
        self.model, self.layers = model, layers
        self._outputs: dict[tuple[int, ...], Tensor] = {}
        self._read: dict[str, Tensor] = {}
        large = model.config.parameters > LARGE
        self.kind = fast_dtype(model.device.type) if large else torch.float32
        """Dtype in which outputs are kept."""

    def __len__(self) -> int:
        """Number of cached examples."""
        return len(self._outputs)

    def outputs(self, examples: Sequence[Example]) -> Tensor:
        """[B, T, D] as `collate` pads the examples; padded positions are 0."""
        self.fill(examples)
        rows = [self._outputs[e.ids] for e in examples]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).float()

    def save(self, path: Path, mark: str, examples: Iterable[Example]) -> None:
        """Writes the outputs of these for `load`. mark: of the weights. Raises CheckpointError."""
        examples = list(examples)
        self.fill(examples)
        rows = {_key(e.ids): self._outputs[e.ids] for e in examples}
        if rows:
            record = {"mark": mark, "rows": json.dumps([[k, len(x)] for k, x in rows.items()])}
            save_tensors({"outputs": torch.cat(list(rows.values())).cpu()}, path, record)

    def load(self, path: Path, mark: str) -> None:
        """Reads what `save` wrote for the same weights. Any other file is ignored: it only costs the time
        to compute outputs again."""
        with contextlib.suppress(CheckpointError, ValueError, KeyError, TypeError, RuntimeError):
            tensors, record = load_tensors(path)
            if record.get("mark") == mark:
                outputs, rows = tensors["outputs"].to(self.model.device), json.loads(record["rows"])
                parts = outputs.to(self.kind).split([length for _, length in rows])
                self._read = {key: part for (key, _), part in zip(rows, parts, strict=True)}

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
        if self._read and missing:
            read = {e.ids: self._read.get(_key(e.ids)) for e in missing}
            self._outputs |= {ids: row for ids, row in read.items() if row is not None}
            missing = [e for e in missing if e.ids not in self._outputs]
        for group in micro_batches(missing, FILL_TOKENS):
            pause()
            members = [missing[i] for i in group]
            for example, row in zip(members, self._through(members), strict=True):
                self._outputs[example.ids] = row[: len(example.ids) - 1].to(self.kind, copy=True)

    def _through(self, examples: Sequence[Example]) -> Iterable[Tensor]:
        """For each example its outputs [T or more, D]; packed where all begin with what the model is told."""
        ids = collate(examples).ids.to(self.model.device)
        with autocast(self.model.device):
            if len(examples) < 2 or not examples[0].start:
                return self.model.trunk(ids, self.layers)
            packing = pack_rows([e.ids[:-1] for e in examples], ROW_TOKENS)
            positions = packing.positions.to(ids.device)
            mask = packing.mask.to(ids.device)
            x = self.model.trunk(packing.pack(ids), self.layers, positions=positions, mask=mask)
            return packing.unpack(x)


def _key(ids: tuple[int, ...]) -> str:
    return hashlib.blake2b(str(ids).encode(), digest_size=16).hexdigest()


class UpperModel:
    """The upper blocks of a model (or of a copy with other upper weights) on cached inputs."""

    def __init__(self, model: Model, trunk: PrefixCache) -> None:
        self.model, self.trunk = model, trunk

    @property
    def device(self) -> torch.device:
        return self.model.device

    def at_targets(self, examples: Sequence[Example]) -> Tensor:
        """Final hidden states [N, D] at the examples' places, in order, with gradient through the upper
        blocks alone."""
        wanted = collate(examples).places.to(self.device)
        return self.model.above(self.trunk.outputs(examples), self.trunk.layers, wanted=wanted)

    def look_ahead(
        self, examples: Sequence[Example], *, pause: Callable[[], None] = lambda: None
    ) -> None:
        """Call before several passes over some of these: what the lower blocks make of them may then cost
        less than in each pass."""

    def logits(self, hidden: Tensor) -> Tensor:
        return self.model.logits(hidden)
