"""What a book training trains: all weights, or low-rank adapters.

At the end adapters are rounded to the dtype of their file and added to the weights, so that file and
weights agree. Left out: the steps (learning.book_training.loop).
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
"""The dtype of adapter files. Rank 16 in ten blocks of a model of 135M weights takes 3 MB."""


@dataclass(frozen=True)
class AdapterPlan:
    """A training of adapters."""

    settings: LoraSettings
    folder: Path | None = None
    """Folder to which the adapters are written in addition; None: they are only added to the weights."""


class Moved(Protocol):
    """What the training loop needs: the tensors in training and a model to pass examples through."""

    @property
    def passes(self) -> Model | HiddenStates:
        """The model that computes the examples' hidden states."""
        ...

    @property
    def trainable(self) -> Trainable:
        """The parameters of the model that may differ after `settle`."""
        ...

    @property
    def context(self) -> int:
        """Most ids in an example."""
        ...

    def tensors(self) -> list[Tensor]:
        """The tensors to optimise. Enables their gradients."""
        ...

    def state(self) -> dict[str, Tensor]:
        """A copy of the tensors in training, by name."""
        ...

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Restores a copy from `state`."""
        ...

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        """The anchor reference: the model's predictions before training."""
        ...

    def settle(
        self, lines: Sequence[Example], found: list[Knowledge], pause: Callable[[], None]
    ) -> list[Knowledge]:
        """Merges the result into the model's weights. found: the last measurement of the lines. Returns the
        measurement after merging."""
        ...

    def close(self) -> None:
        """Detaches adapters from the model. Without `settle` the result is lost."""
        ...

    def save(self, path: Path) -> None:
        """Writes the state to a file. Raises CheckpointError."""
        ...

    def read(self, path: Path) -> dict[str, Tensor]:
        """The state that `save` wrote. Raises CheckpointError if it does not fit the model."""
        ...


class AllWeights:
    """Trains all weights of a model."""

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
    """Trains adapters of a model with frozen weights. The outputs of the blocks below them are cached for
    each example."""

    def __init__(self, adapters: Adapters, kept: Collection[Example] = ()) -> None:
        """kept: examples that occur repeatedly, whose outputs are cached."""
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
