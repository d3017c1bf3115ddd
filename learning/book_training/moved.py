"""What a book training moves, and how a model is passed through while it moves: all weights, or adapters.

Left out: the steps (learning.book_training.loop).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol

from torch import Tensor

from engine.errors import CheckpointError
from engine.lora import Adapters
from engine.model import Model
from engine.storage.checkpoint import load_model, load_tensors, save_tensors, to_huggingface
from learning.data.examples import Example
from learning.memory.packed_rows import PackedRows
from learning.memory.prefix_cache import PrefixCache
from learning.memory.reference import AnchorReference, base_reference, frozen_reference
from learning.objectives.forward import HiddenStates


class Moved(Protocol):
    """What the steps need to know."""

    @property
    def passes(self) -> Model | HiddenStates:
        """What examples go through."""
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

    def save(self, path: Path) -> None:
        """Keeps the state in a file. Raises CheckpointError."""
        ...

    def read(self, path: Path) -> dict[str, Tensor]:
        """The state that `save` kept. Raises CheckpointError where it does not fit."""
        ...


class AllWeights:
    """Every weight of a model."""

    def __init__(self, model: Model) -> None:
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        self.passes, self.context = model, model.config.context

    def tensors(self) -> list[Tensor]:
        return list(self.passes.parameters())

    def state(self) -> dict[str, Tensor]:
        return {k: v.detach().clone() for k, v in self.passes.state_dict().items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.passes.load_state_dict(state)

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        return frozen_reference(self.passes, pause=pause)

    def save(self, path: Path) -> None:
        state = {k: v.detach().cpu() for k, v in self.passes.state_dict().items()}
        save_tensors(to_huggingface(state, self.passes.config), path, {})

    def read(self, path: Path) -> dict[str, Tensor]:
        model = load_model(path.parent, device=self.passes.device, weights=path)
        return dict(model.state_dict())


class AdapterWeights:
    """Adapters of a model whose weights stand still. What lies below them is computed once for each
    example."""

    def __init__(self, adapters: Adapters, kept: Collection[Example] = ()) -> None:
        """kept: examples that come again."""
        self.adapters, model = adapters, adapters.model
        self._trunk = PrefixCache(model, adapters.settings.first_block)
        self.passes, self.context = PackedRows(model, self._trunk, kept), model.config.context

    def tensors(self) -> list[Tensor]:
        return self.adapters.parameters()

    def state(self) -> dict[str, Tensor]:
        return self.adapters.tensors()

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.adapters.fill(state)

    def reference(self, pause: Callable[[], None]) -> AnchorReference:
        return base_reference(self.adapters, self._trunk, pause=pause)

    def save(self, path: Path) -> None:
        save_tensors({k: v.cpu() for k, v in self.state().items()}, path, {})

    def read(self, path: Path) -> dict[str, Tensor]:
        tensors, _ = load_tensors(path)
        now = {k: v.shape for k, v in self.state().items()}
        if {k: v.shape for k, v in tensors.items()} != now:
            raise CheckpointError(f"{path}: holds other adapters", "begin the training anew")
        return tensors
