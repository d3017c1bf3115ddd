"""Which tensors of a model a piece of learning moves, and how these alone are copied and put back.

A lesson moves the matrices of the upper blocks, a third of the weights at 10M; book training and practice
move all. Whatever follows costs as much as what moves: the copy to go back to, the file that is written
(learning.models.weights), the copy that answers (engine.packed). Left out: the steps.
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
    """In the order of the optimizer."""

    def start(self) -> list[Tensor]:
        """The tensors, which alone require gradients from now on."""
        self.model.requires_grad_(False)
        tensors: list[Tensor] = [self.model.get_parameter(name) for name in self.names]
        for tensor in tensors:
            tensor.requires_grad_(True)
        return tensors

    def state(self) -> dict[str, Tensor]:
        """A copy, for `restore`."""
        return {name: self.model.get_parameter(name).detach().clone() for name in self.names}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """The tensors as they were; gradients are dropped, and all parameters require them again."""
        for name, tensor in state.items():
            self.model.get_parameter(name).copy_(tensor)
        for parameter in self.model.parameters():
            parameter.requires_grad_(True)
            parameter.grad = None


def all_weights(model: Model) -> Trainable:
    """Every parameter."""
    return Trainable(model, tuple(name for name, _ in model.named_parameters()))


def upper_matrices(model: Model, frozen_blocks: int) -> Trainable:
    """The matrices of the blocks from number `frozen_blocks` on: neither norms, nor the embedding, nor
    what is below."""
    found = [
        f"blocks.{number}.{name}"
        for number in range(frozen_blocks, len(model.blocks))
        for name, parameter in model.blocks[number].named_parameters()
        if parameter.dim() == 2
    ]
    return Trainable(model, tuple(found))
