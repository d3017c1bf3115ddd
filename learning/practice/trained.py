"""What practice trains of a model: all weights, or low-rank adapters of a large one (LoRA, 2106.09685).

Adapters of rank 32 have a fourteenth of the weights of a model of 135M, and only they have gradients and an
optimizer's state. Answers are drawn from weights to which the adapters are added, as they will answer later.
Left out: the steps (learning.practice.trainer), and what is saved when (learning.practice.run).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor

from engine.lora import Adapters, LoraSettings, attach
from engine.model import Model
from learning.memory.save_points import SavePoints
from learning.models.trainable import Trainable, all_weights, upper_matrices
from learning.practice.settings import AdapterSettings


class TrainedWeights(Protocol):
    """The part of a model that a run of practice trains."""

    def training(self) -> AbstractContextManager[None]:
        """In the block `tensors` may be trained. At its end they become part of the model's own weights; if
        the block raises, what was trained is dropped."""
        ...

    @property
    def trainable(self) -> Trainable:
        """The parameters of the model that may differ afterwards."""
        ...

    @property
    def embeddings(self) -> bool:
        """Whether the embeddings are trained too; a model learns new ids only so."""
        ...

    @property
    def rate(self) -> float:
        """Times the learning rate of warm-up and of rehearsing what was forgotten."""
        ...

    def tensors(self) -> list[Tensor]:
        """The tensors to optimise, with gradients enabled."""
        ...

    def added(self) -> AbstractContextManager[None]:
        """In the block the model's own weights are those that are trained: to draw answers from, to copy, or
        to publish."""
        ...

    def drop(self) -> None:
        """Drops what was trained and not added. The model's own weights stay as they are."""
        ...


class WholeModel:
    """Trains all weights of a model in place."""

    embeddings = True
    rate = 1.0

    def __init__(self, model: Model) -> None:
        self.trainable = all_weights(model)

    def training(self) -> AbstractContextManager[None]:
        return nullcontext()

    def tensors(self) -> list[Tensor]:
        return self.trainable.start()

    def added(self) -> AbstractContextManager[None]:
        return nullcontext()

    def drop(self) -> None:
        pass


class LowRank:
    """Trains adapters of all linear maps of a model."""

    embeddings = False

    def __init__(self, model: Model, settings: AdapterSettings, seed: int) -> None:
        """seed: of the adapters' first values."""
        self._model, self._seed = model, seed
        self._settings = LoraSettings(settings.rank, settings.alpha)
        self.rate = settings.rate
        self.trainable = upper_matrices(model, 0)
        self._adapters: Adapters | None = None

    @contextmanager
    def training(self) -> Iterator[None]:
        generator = torch.Generator().manual_seed(self._seed)
        self._adapters = attach(self._model, self._settings, generator)
        try:
            yield
            if self._adapters:
                self._adapters.bake()
        finally:
            self.drop()

    def tensors(self) -> list[Tensor]:
        return self._attached.parameters()

    @contextmanager
    def added(self) -> Iterator[None]:
        with self._adapters.merged() if self._adapters else nullcontext():
            try:
                yield
            finally:
                self._model.packed = None  # it holds the sums, as large as the model

    def drop(self) -> None:
        if self._adapters:
            self._adapters.detach()
            self._adapters = None
        self._model.requires_grad_(True)

    @property
    def _attached(self) -> Adapters:
        assert self._adapters is not None, "used outside of its context"
        return self._adapters


def trained_weights(model: Model, settings: AdapterSettings, seed: int) -> TrainedWeights:
    """Adapters for a model of at least `settings.at` weights, all weights for a smaller one."""
    if model.config.parameters >= settings.at:
        return LowRank(model, settings, seed)
    return WholeModel(model)


class AddedSavePoints:
    """SavePoints of weights to which adapters are added while they are saved."""

    def __init__(self, points: SavePoints, trained: TrainedWeights) -> None:
        self._points, self._trained = points, trained

    def save(self, note: str) -> None:
        """Publishes the present weights. Raises what `points` raises."""
        with self._trained.added():
            self._points.save(note)

    def restore(self) -> None:
        """Restores the weights published last; the run is over then."""
        self._trained.drop()
        self._points.restore()
