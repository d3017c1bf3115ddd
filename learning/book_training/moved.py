"""What a book training moves, and how a model is passed through while it moves: all weights, or adapters.

Adapters end as a part of the weights: they are rounded as their file holds them and then added, so that
file and weights say the same. Left out: the steps (learning.book_training.loop).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.lora import Adapters, LoraSettings
from engine.model import Model
from engine.storage.checkpoint import load_model, load_tensors, save_tensors, to_huggingface
from learning.data.examples import Example
from learning.memory.packed_rows import PackedRows
from learning.memory.prefix_cache import PrefixCache
from learning.memory.reference import AnchorReference, base_reference, frozen_reference
from learning.models.trainable import Trainable, all_weights, upper_matrices
from learning.objectives.forward import HiddenStates, Knowledge, knowledge

STORED = torch.float16
"""How adapters are written: rank 16 in ten blocks of a model of 135M weights takes 3 MB."""


@dataclass(frozen=True)
class AdapterPlan:
    """A training of adapters."""

    settings: LoraSettings
    folder: Path | None = None
    """Where they are written besides; None: they are only added to the weights."""
    own_talk: Path | None = None
    """The base's own answers, see `manner`; None: it makes talk up."""


class Moved(Protocol):
    """What steps need to know."""

    @property
    def passes(self) -> Model | HiddenStates:
        """What examples go through."""
        ...

    @property
    def trainable(self) -> Trainable:
        """The parameters of the model that may differ after `settle`."""
        ...

    @property
    def context(self) -> int:
        """Most ids of an example."""
        ...

    def tensors(self) -> list[Tensor]:
        """What the optimizer moves; their gradients are enabled."""
        ...

    def state(self) -> dict[str, Tensor]:
        """A copy of what moves."""
        ...

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Puts such a copy back."""
        ...

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        """How the model talked before."""
        ...

    def settle(
        self, lines: Sequence[Example], found: list[Knowledge], pause: Callable[[], None]
    ) -> list[Knowledge]:
        """Brings what moved into the model's weights. found: what was known of the lines when they were
        last asked. Returns what is known now."""
        ...

    def close(self) -> None:
        """Takes off what was put on; what was not settled is lost."""
        ...

    def save(self, path: Path) -> None:
        """Keeps the state in a file. Raises CheckpointError."""
        ...

    def read(self, path: Path) -> dict[str, Tensor]:
        """The state that `save` kept. Raises CheckpointError where it does not fit."""
        ...


class AllWeights:
    """Every weight of a model."""

    def __init__(self, model: Model) -> None:
        self._model, self.trainable = model, all_weights(model)
        self._tensors = self.trainable.start()

    @property
    def passes(self) -> Model:
        return self._model

    @property
    def context(self) -> int:
        return self._model.config.context

    def tensors(self) -> list[Tensor]:
        return self._tensors

    def state(self) -> dict[str, Tensor]:
        return self.trainable.state()

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.trainable.restore(state)

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        return frozen_reference(self._model, pause=pause)

    def settle(
        self, lines: Sequence[Example], found: list[Knowledge], pause: Callable[[], None]
    ) -> list[Knowledge]:
        return found

    def close(self) -> None:
        pass

    def save(self, path: Path) -> None:
        state = {k: v.detach().cpu() for k, v in self._model.state_dict().items()}
        save_tensors(to_huggingface(state, self._model.config), path, {})

    def read(self, path: Path) -> dict[str, Tensor]:
        model = load_model(path.parent, device=self._model.device, weights=path)
        return dict(model.state_dict())


class AdapterWeights:
    """Adapters of a model whose weights stand still. What lies below them is computed once for each
    example."""

    def __init__(self, adapters: Adapters, kept: Collection[Example] = ()) -> None:
        """kept: examples that come again."""
        self.adapters = adapters
        self._model = adapters.model
        self._trunk = PrefixCache(self._model, adapters.settings.first_block)
        self._rows = PackedRows(self._model, self._trunk, kept)

    @property
    def passes(self) -> HiddenStates:
        return self._rows

    @property
    def trainable(self) -> Trainable:
        return upper_matrices(self._model, self.adapters.settings.first_block)

    @property
    def context(self) -> int:
        return self._model.config.context

    def tensors(self) -> list[Tensor]:
        return self.adapters.parameters()

    def state(self) -> dict[str, Tensor]:
        return self.adapters.tensors()

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.adapters.fill(state)

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        return base_reference(self.adapters, self._trunk, pause=pause)

    def settle(
        self, lines: Sequence[Example], found: list[Knowledge], pause: Callable[[], None]
    ) -> list[Knowledge]:
        self.adapters.round(STORED)
        self.adapters.bake()
        return knowledge(self._rows, lines, pause=pause)

    def close(self) -> None:
        self.adapters.detach()
        for parameter in self._model.parameters():
            parameter.requires_grad_(True)

    def save(self, path: Path) -> None:
        save_tensors({k: v.cpu() for k, v in self.state().items()}, path, {})

    def read(self, path: Path) -> dict[str, Tensor]:
        tensors, _ = load_tensors(path)
        now = {k: v.shape for k, v in self.state().items()}
        if {k: v.shape for k, v in tensors.items()} != now:
            raise CheckpointError(f"{path}: holds other adapters", "begin the training anew")
        return tensors
