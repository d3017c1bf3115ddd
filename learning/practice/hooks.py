"""Lets a forward or backward pass be interrupted after every block of the model.

Checking only between micro-batches would keep an owner who comes back to the keyboard waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from engine.model import Model


@contextmanager
def interruptible(model: Model, pause: Callable[[], None]) -> Iterator[None]:
    """Calls `pause` after each block, forward and backward, while this is held. If `pause` raises, the
    pass ends; the caller must drop partly accumulated gradients."""

    def asked(gradient: Tensor) -> Tensor:
        pause()
        return gradient

    def after(module: nn.Module, given: object, output: Tensor) -> None:
        pause()
        if output.requires_grad:
            output.register_hook(asked)

    handles = [block.register_forward_hook(after) for block in model.blocks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
