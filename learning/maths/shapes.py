"""Shape checks for the arguments of maths functions."""

from __future__ import annotations

from torch import Tensor

from engine.errors import ShapeError


def same_shape(**tensors: Tensor) -> None:
    """Raises ShapeError, naming the arguments, unless all have the same shape."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if len(set(shapes.values())) > 1:
        raise ShapeError(", ".join(f"{name} is {shape}" for name, shape in shapes.items()))
