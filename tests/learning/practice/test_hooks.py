"""A pass through the model asks whether to go on after every block, both ways."""

from __future__ import annotations

import torch

from engine.model import Model
from learning.practice.hooks import interruptible


def test_it_asks_after_every_block_forwards_and_backwards(tiny_model: Model) -> None:
    asked: list[None] = []
    ids = torch.tensor([[1, 2, 3]])
    with interruptible(tiny_model, lambda: asked.append(None)):
        loss = tiny_model(ids).sum()
        assert len(asked) == len(tiny_model.blocks)
        loss.backward()
        assert len(asked) == 2 * len(tiny_model.blocks)
        with torch.no_grad():
            tiny_model(ids)
        assert len(asked) == 3 * len(tiny_model.blocks)
    tiny_model(ids)
    assert len(asked) == 3 * len(tiny_model.blocks), "no longer"
