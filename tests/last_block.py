"""Counts the positions that a model's last block computes."""

from __future__ import annotations

from typing import Any

from engine.model import Model


def positions_of(model: Model) -> list[int]:
    """A list that each later pass extends by the numbers of positions of which the last block computes the
    output of attention, and the feed-forward part."""
    found = list[int]()

    def count(_module: Any, _args: Any, out: Any) -> None:
        found.append(out.shape[:-1].numel())

    last = model.blocks[-1]
    for part in (last.attention.out, last.ffn):
        part.register_forward_hook(count)
    return found
