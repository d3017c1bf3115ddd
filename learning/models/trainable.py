"""The part of a model's parameters that a training trains; only this part is copied and restored.

A lesson trains the matrices of the upper blocks (a third of the weights at 10M); practice trains all weights.
The backup, the file that is written (learning.models.weights) and the copy that answers (engine.packed) cost
in proportion to what is trained. Left out: the optimizer steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Model


@dataclass(frozen=True)
class Trainable:
    """Some of a model's parameters, by name."""

    model: Model
    names: tuple[str, ...]
    """Names of the parameters, in the order of the optimizer."""

    def start(self) -> list[Tensor]:
        """The tensors, in the order of `names`. From now on only they require gradients."""
        self.model.requires_grad_(False)
        tensors: list[Tensor] = [self.model.get_parameter(name) for name in self.names]
        for tensor in tensors:
            tensor.requires_grad_(True)
        return tensors

    def state(self) -> dict[str, Tensor]:
        """A copy of the tensors by name, for `restore`."""
        return {name: self.model.get_parameter(name).detach().clone() for name in self.names}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Copies `state` back, drops all gradients, and makes all parameters require gradients again."""
        for name, tensor in state.items():
            self.model.get_parameter(name).copy_(tensor)
        for parameter in self.model.parameters():
            parameter.requires_grad_(True)
            parameter.grad = None


def all_weights(model: Model) -> Trainable:
    """All parameters of the model."""
    return Trainable(model, tuple(name for name, _ in model.named_parameters()))


def upper_matrices(model: Model, frozen_blocks: int) -> Trainable:
    """The matrices of all blocks but the first `frozen_blocks`: no norm weights, no embedding, no output
    layer."""
    found = [
        f"blocks.{number}.{name}"
        for number in range(frozen_blocks, len(model.blocks))
        for name, parameter in model.blocks[number].named_parameters()
        if parameter.dim() == 2
    ]
    return Trainable(model, tuple(found))
