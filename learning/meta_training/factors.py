"""Low-rank factors of all blocks as stacked tensors, so that a GPU merges all of them in a few products.

Notation: L blocks, r rank, I inputs and O outputs of a part; A [L, r, I], B [L, O, r] (2106.09685). Fused
matrices [L, O, I] are stacked in the order of MATRICES.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.lora import PARTS, Adapters, LoraSettings, attach, load
from engine.model import Model
from engine.storage.adapter_files import a_name, b_name

RANK, ALPHA = 16, 32.0
"""Of an adapter that begins anew."""
MATRICES = (
    "attention.qkv.weight",
    "attention.out.weight",
    "ffn.gate_up.weight",
    "ffn.down.weight",
)
"""The engine's matrices of a block."""
FUSED = (("q", "k", "v"), ("out",), ("gate", "up"), ("down",))
"""Their parts, in the order of their rows."""


def start_adapters(model: Model, folder: Path | None, seed: int) -> Adapters:
    """Adapters of all parts of all blocks, to begin with. Those that the folder has are as they are there,
    with their rank and scale; the others do not change the model yet. Raises CheckpointError if the folder
    has no adapter that fits the model."""
    settings, found = LoraSettings(rank=RANK, alpha=ALPHA), dict[str, Tensor]()
    if folder is not None:
        given = load(model, folder)
        settings = LoraSettings(rank=given.settings.rank, alpha=given.settings.alpha)
        found = given.tensors()
        given.detach()
    adapters = attach(model, settings)
    adapters.fill(_new(model.config, settings.rank, seed) | found)
    return adapters


def _new(config: ModelConfig, rank: int, seed: int) -> dict[str, Tensor]:
    """A as engine.lora draws them, and B of zeros, under PEFT's names; the same for the same seed."""
    drawn, found = torch.Generator().manual_seed(seed), dict[str, Tensor]()
    sizes = outputs(config)
    inputs = {"out": config.heads * config.head_dim, "down": config.hidden}
    for part in PARTS:
        width = inputs.get(part, config.dim)
        a = torch.empty(config.layers, rank, width)
        a.uniform_(-1.0, 1.0, generator=drawn).div_(math.sqrt(width))
        for block in range(config.layers):
            found[a_name(block, part)] = a[block]
            found[b_name(block, part)] = torch.zeros(sizes[part], rank)
    return found


class StackedFactors:
    """A and B of all parts and blocks. Their gradients are computed from those of merged weights, so they
    are no leaves of a graph."""

    def __init__(self, adapters: Adapters, device: torch.device) -> None:
        """Copies the adapters' numbers to the device."""
        self.adapters, self.scale = adapters, adapters.settings.scale
        self.layers = adapters.model.config.layers
        self.sizes = outputs(adapters.model.config)
        found = adapters.tensors()
        blocks = range(self.layers)
        self.a, self.b = (
            {
                part: torch.stack([found[name(block, part)].float() for block in blocks]).to(device)
                for part in PARTS
            }
            for name in (a_name, b_name)
        )

    def all(self) -> list[Tensor]:
        """The A of all parts, then the B."""
        return [*self.a.values(), *self.b.values()]

    @torch.no_grad()
    def merged(self, base: Sequence[Tensor]) -> list[Tensor]:
        """W + (alpha / r) B A of the fused matrices [L, O, I], in float32."""
        found = []
        for weight, parts in zip(base, FUSED, strict=True):
            change = torch.cat([torch.bmm(self.b[part], self.a[part]) for part in parts], 1)
            found.append(torch.add(weight, change, alpha=self.scale))
        return found

    @torch.no_grad()
    def gradients(self, merged: Sequence[Tensor]) -> list[Tensor]:
        """Gradients of `all`, from those of the merged matrices: of B G A^T, of A B^T G, times alpha / r."""
        of_a, of_b = dict[str, Tensor](), dict[str, Tensor]()
        for whole, parts in zip(merged, FUSED, strict=True):
            pieces = whole.split([self.sizes[part] for part in parts], 1)
            for part, piece in zip(parts, pieces, strict=True):
                of_b[part] = torch.bmm(piece, self.a[part].transpose(1, 2)).mul_(self.scale)
                of_a[part] = torch.bmm(self.b[part].transpose(1, 2), piece).mul_(self.scale)
        return [*(of_a[part] for part in PARTS), *(of_b[part] for part in PARTS)]

    @torch.no_grad()
    def round(self, dtype: torch.dtype) -> None:
        """Rounds A and B to `dtype`, in which they are saved: the last measure sees the saved numbers."""
        for factor in self.all():
            factor.copy_(factor.to(dtype).float())

    def save(self, folder: Path, base: str) -> None:
        """Writes the adapter as `engine.lora` and `peft` read it, in float16. base: the model's name. Raises
        CheckpointError."""
        self.adapters.fill(
            {
                name(block, part): stacked[part][block].cpu()
                for name, stacked in ((a_name, self.a), (b_name, self.b))
                for part in PARTS
                for block in range(self.layers)
            }
        )
        self.adapters.save(folder, base=base)


def outputs(config: ModelConfig) -> dict[str, int]:
    """O of each part."""
    queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
    return {
        "q": queries,
        "k": keys,
        "v": keys,
        "out": config.dim,
        "gate": config.hidden,
        "up": config.hidden,
        "down": config.dim,
    }
