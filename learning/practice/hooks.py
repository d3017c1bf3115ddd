"""Asks whether to go on after every block of a model, forwards and backwards.

Between micro-batches is too seldom for somebody who has just come back to the keyboard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from engine.model import Model


@contextmanager
def interruptible(model: Model, pause: Callable[[], None]) -> Iterator[None]:
    """Calls `pause` after each block while this is held. What it raises ends the pass; gradients that
    were half accumulated are the caller's to drop."""

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
