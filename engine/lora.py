"""Low-rank adapters (LoRA, 2106.09685): a weight W becomes W + (α/r) B A, and only A and B are trained.

The engine's projections are fused, but each named part has an adapter of its own, as in other programs, so
adapters can be exchanged with them: files are in PEFT's layout. Adapters are kept apart from the model's
weights: its parameters, its state dict and its copies are those of the base until `merged` or `bake`. So
engine.packed uses the base; merge before packing. Left out: embeddings, norms, quantised bases.

Notation: r rank, α alpha, I inputs and O outputs of a part; A [r, I], B [O, r].
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.products import Linear, product, shortened
from engine.storage.adapter_files import (
    AdapterShape,
    a_name,
    b_name,
    read_adapter,
    write_adapter,
)

PARTS = ("q", "k", "v", "out", "gate", "up", "down")
"""All linear maps of a block."""


@dataclass(frozen=True)
class LoraSettings:
    """The shape and scale of adapters."""

    rank: int = 32
    """>= 1."""
    alpha: float = 64.0
    """> 0; a part's change is scaled by alpha / rank."""
    dropout: float = 0.0
    """Dropout probability of an adapter's inputs in training, in [0, 1)."""
    targets: tuple[str, ...] = PARTS
    """Parts that have adapters."""
    first_block: int = 0
    """Index of the first block with adapters. Outputs of the blocks below it can be cached."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.targets) - set(PARTS))
        good = (
            self.rank >= 1
            and 0.0 < self.alpha < math.inf
            and 0.0 <= self.dropout < 1.0
            and self.first_block >= 0
            and self.targets
        )
        if unknown or not good:
            raise ConfigError(
                f"adapter: {f'no part is called {unknown[0]}' if unknown else self}",
                f"rank is at least 1, alpha above 0, dropout 0 to below 1, parts are {', '.join(PARTS)}",
            )

    @property
    def scale(self) -> float:
        return self.alpha / self.rank


class _Adapted(nn.Module):
    """A projection [O, I] and the adapters of its parts. `weight` is the projection's own parameter, under
    the same name; A and B are not among the model's parameters."""

    def __init__(self, linear: nn.Linear, sizes: Mapping[str, int], adapters: Adapters) -> None:
        """sizes: outputs of each part, in the order of the rows."""
        super().__init__()
        self.weight, self.sizes = linear.weight, dict(sizes)
        settings = adapters.settings
        self._parts = [name for name in sizes if name in settings.targets]
        inputs, rank = linear.weight.shape[1], settings.rank
        down = torch.empty(len(self._parts), rank, inputs)
        for part in down:  # as kaiming_uniform_ with a = √5, and an argument for the randomness
            part.uniform_(-1.0, 1.0, generator=adapters.generator).div_(math.sqrt(inputs))
        ups = [torch.zeros(sizes[name], rank) for name in self._parts]
        device = linear.weight.device
        # a tuple is no parameter
        self._factors = tuple(
            factor.to(device).requires_grad_() for factor in (down.flatten(0, 1), *ups)
        )
        self._adapters = (adapters,)

    @property
    def factors(self) -> tuple[Tensor, ...]:
        """The A of all parts, [parts * r, I], then the B [O, r] of each part."""
        return self._factors

    def named(self) -> Iterator[tuple[str, Tensor, Tensor]]:
        """(part, A, B) of each part, as views of the trained tensors."""
        yield from zip(self._parts, self._downs(), self._factors[1:], strict=True)

    def forward(self, x: Tensor) -> Tensor:
        """[..., I] to [..., O]."""
        out = product(x, shortened(self.weight))
        (adapters,) = self._adapters
        if not adapters.active:
            return out
        low = product(adapters.dropped(x), self._factors[0]).split(adapters.settings.rank, -1)
        ups = dict(zip(self._parts, zip(low, self._factors[1:], strict=True), strict=True))
        change = [
            product(*ups[name]) if name in ups else out.new_zeros(*out.shape[:-1], size)
            for name, size in self.sizes.items()
        ]
        whole = change[0] if len(change) == 1 else torch.cat(change, -1)
        return torch.add(out, whole, alpha=adapters.settings.scale).to(out.dtype)

    @torch.no_grad()
    def change(self) -> Tensor:
        """(α/r) B A, [O, I], in float32."""
        (adapters,) = self._adapters
        found = {name: b @ a for name, a, b in self.named()}
        inputs = self.weight.shape[1]
        rows = [
            found[name] if name in found else torch.zeros(size, inputs, device=self.weight.device)
            for name, size in self.sizes.items()
        ]
        return torch.cat(rows).mul_(adapters.settings.scale)

    def _downs(self) -> tuple[Tensor, ...]:
        (adapters,) = self._adapters
        return self._factors[0].split(adapters.settings.rank)

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Linear:
        """A copy of the model is a copy of the base."""
        return _linear(nn.Parameter(self.weight.detach().clone(), self.weight.requires_grad))


class Adapters:
    """The adapters of one model, created by `attach` or `load`."""

    def __init__(
        self, model: Model, settings: LoraSettings, generator: torch.Generator | None
    ) -> None:
        self.model, self.settings, self.generator = model, settings, generator
        self.active = True
        """False while the model uses its weights alone: adapters are disabled or merged."""
        self._layers: dict[tuple[int, str, str], _Adapted] = {}
        for number, block in enumerate(model.blocks):
            if number >= settings.first_block:
                self._adapt(number, block)
        for parameter in model.parameters():
            parameter.requires_grad_(False)

    def parameters(self) -> list[Tensor]:
        """The trained tensors, in float32."""
        return [factor for layer in self._layers.values() for factor in layer.factors]

    @property
    def count(self) -> int:
        """Number of trained numbers."""
        return sum(factor.numel() for factor in self.parameters())

    def dropped(self, x: Tensor) -> Tensor:
        """An adapter's inputs after dropout; unchanged while gradients are off."""
        share = self.settings.dropout
        if not share or not torch.is_grad_enabled():
            return x
        kept = torch.empty(x.shape, device=x.device).bernoulli_(1 - share, generator=self.generator)
        return x * kept.to(x.dtype).div_(1 - share)

    @contextlib.contextmanager
    def disabled(self) -> Iterator[None]:
        """Disables the adapters in the block, so that the model is its base, for example as a reference."""
        before, self.active = self.active, False
        try:
            yield
        finally:
            self.active = before

    @contextlib.contextmanager
    def merged(self) -> Iterator[None]:
        """Adds the adapters to the model's weights in the block. Afterwards the weights are exactly as
        before."""
        kept = [layer.weight.data for layer in self._layers.values()]
        try:
            for layer in self._layers.values():
                layer.weight.data = (layer.weight.data.float() + layer.change()).to(
                    layer.weight.dtype
                )
            with self.disabled():
                yield
        finally:
            for layer, weight in zip(self._layers.values(), kept, strict=True):
                layer.weight.data = weight

    @torch.no_grad()
    def bake(self) -> None:
        """Adds the adapters to the model's weights permanently, and detaches them."""
        for layer in self._layers.values():
            layer.weight.copy_((layer.weight.float() + layer.change()).to(layer.weight.dtype))
        self.detach()

    def detach(self) -> None:
        """Detaches the adapters from the model, if they are attached. They can still be saved."""
        for (number, room, name), layer in self._layers.items():
            place = getattr(self.model.blocks[number], room)
            if getattr(place, name) is layer:
                setattr(place, name, _linear(layer.weight))

    @torch.no_grad()
    def round(self, dtype: torch.dtype) -> None:
        """Rounds all A and B to a dtype, so that they equal what a file of that dtype holds."""
        for factor in self.parameters():
            factor.copy_(factor.to(dtype).float())

    def tensors(self) -> dict[str, Tensor]:
        """Copies of all A and B under PEFT's names."""
        found = {}
        for (number, _, _), layer in self._layers.items():
            for part, a, b in layer.named():
                found[a_name(number, part)] = a.detach().clone()
                found[b_name(number, part)] = b.detach().clone()
        return found

    @torch.no_grad()
    def fill(self, tensors: Mapping[str, Tensor]) -> None:
        """Copies A and B from tensors under PEFT's names. Raises KeyError if one is missing, and ValueError
        if one has the wrong shape."""
        for (number, _, _), layer in self._layers.items():
            for part, a, b in layer.named():
                for mine, name in ((a, a_name(number, part)), (b, b_name(number, part))):
                    theirs = tensors[name]
                    if theirs.shape != mine.shape:
                        raise ValueError(f"{name} is {[*theirs.shape]}, not {[*mine.shape]}")
                    mine.copy_(theirs.float())

    def save(self, folder: Path, *, dtype: torch.dtype = torch.float16, base: str = "") -> None:
        """Writes `adapter_config.json` and `adapter_model.safetensors`, as `peft` reads them. base: the
        name of the model that they are for. Raises CheckpointError."""
        settings = self.settings
        shape = AdapterShape(
            settings.rank,
            settings.alpha,
            settings.dropout,
            settings.targets,
            tuple(range(settings.first_block, self.model.config.layers)),
        )
        tensors = {name: tensor.cpu().to(dtype) for name, tensor in self.tensors().items()}
        write_adapter(folder, shape, tensors, base)

    def _adapt(self, number: int, block: nn.Module) -> None:
        for (room, name), sizes in _sizes(self.model).items():
            if not set(sizes) & set(self.settings.targets):
                continue
            place = getattr(block, room)
            layer = _Adapted(getattr(place, name), sizes, self)
            setattr(place, name, layer)
            self._layers[number, room, name] = layer


def attach(
    model: Model, settings: LoraSettings, generator: torch.Generator | None = None
) -> Adapters:
    """Attaches adapters that do not change the model's output yet (B = 0), and freezes the model's own
    weights.

    generator: draws A and what `dropout` leaves out. Raises ConfigError where no block has one.
    """
    if settings.first_block >= len(model.blocks):
        raise ConfigError(
            f"adapter: a model of {len(model.blocks)} blocks has no block {settings.first_block}",
            f"choose a first block from 0 to {len(model.blocks) - 1}",
        )
    if any(isinstance(layer, _Adapted) for layer in model.modules()):
        raise ConfigError("adapter: the model has adapters already", "bake or detach them first")
    return Adapters(model, settings, generator)


def load(model: Model, folder: Path) -> Adapters:
    """Attaches adapters that `save` or `peft` wrote. Raises CheckpointError if they do not fit the model."""
    shape, tensors = read_adapter(folder)
    first, last = shape.blocks[0] if shape.blocks else 0, len(model.blocks)
    if shape.blocks not in ((), tuple(range(first, last))):
        raise CheckpointError(
            f"{folder}: its adapter is for other blocks than the upper ones of {last}",
            "use it with the model that it was made for",
        )
    settings = LoraSettings(shape.rank, shape.alpha, shape.dropout, shape.targets, first)
    adapters = attach(model, settings)
    try:
        adapters.fill(tensors)
        if left := set(tensors) - set(adapters.tensors()):
            raise ValueError(f"{min(left)} has no place in the model")
    except (KeyError, ValueError) as error:
        adapters.detach()
        raise CheckpointError(
            f"{folder}: the adapter does not fit this model ({error})",
            "use it with the model that it was made for",
        ) from error
    return adapters


def _linear(weight: Tensor) -> nn.Linear:
    """A projection with that parameter for its weight."""
    linear = Linear(weight.shape[1], weight.shape[0], device="meta")
    linear.weight = cast(nn.Parameter, weight)
    return linear


def _sizes(model: Model) -> dict[tuple[str, str], dict[str, int]]:
    """Outputs of the parts of each projection of a block, in the order of its rows."""
    config = model.config
    queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
    return {
        ("attention", "qkv"): {"q": queries, "k": keys, "v": keys},
        ("attention", "out"): {"out": config.dim},
        ("ffn", "gate_up"): {"gate": config.hidden, "up": config.hidden},
        ("ffn", "down"): {"down": config.dim},
    }
