"""Packs a prompt and several answers to it into one row, so that the model computes the prompt once.

The attention mask lets each answer see the prompt and itself, not the other answers. An answer's positions
continue those of the prompt. So the hidden states equal those of separate rows, but for rounding. Left out:
what is computed from the hidden states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

PROMPT = 0
"""Owner of the prompt's ids; the answers are 1, 2, ..."""
PADDING = -1


@dataclass(frozen=True)
class SharedRow:
    """A prompt and the answers behind it: T ids together."""

    ids: list[int]
    positions: list[int]
    """[T] of each id in its prompt and answer, from 0."""
    owners: list[int]
    """[T] whose the ids are: PROMPT, or the number of an answer, from 1."""

    @classmethod
    def of(cls, prompt: Sequence[int], answers: Sequence[Sequence[int]]) -> SharedRow:
        start = len(prompt)
        ids, positions, owners = list(prompt), list(range(start)), [PROMPT] * start
        for number, answer in enumerate(answers, 1):
            ids += answer
            positions += range(start, start + len(answer))
            owners += [number] * len(answer)
        return cls(ids, positions, owners)


def portions(prompt: int, answers: Sequence[int], most: int) -> list[slice]:
    """Neighbouring answers that have at most `most` ids together with the prompt, as slices. A longer answer
    has one of its own. prompt, answers: numbers of ids."""
    found, start, size = list[slice](), 0, prompt
    for place, length in enumerate(answers):
        if place > start and size + length > most:
            found.append(slice(start, place))
            start, size = place, prompt
        size += length
    return [*found, slice(start, len(answers))] if answers else found


def shared_mask(owners: Tensor) -> Tensor:
    """Additive attention mask [B, 1, T, T] of owners [B, T]: 0 where the id of a row sees that of a column,
    else minus infinity. Padding sees the prompt and padding."""
    own = owners[:, None, :] == owners[:, :, None]
    visible = (own | (owners[:, None, :] == PROMPT)).tril()
    mask = torch.zeros(visible.shape, device=owners.device)
    return mask.masked_fill_(~visible, float("-inf"))[:, None]
