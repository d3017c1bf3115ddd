"""ROME (2202.05262): one rank-one edit of one MLP puts a key's value in place of its old one.

    W' = W + (v - W k) uᵀ / (uᵀ k),   u = C⁻¹ k̄

C is the second moment of the keys of the model's own talk and book; k̄ is the key's mean over contexts. Of all
W' with W' k = v it changes the values of other keys least, as C has them (its eq. 2). Left out: the term that
keeps the essence of the subject, and the choice of the layer by causal tracing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.baselines.mlp_memory import down, edited_block, in_pieces, second_moments, wanted
from engine.model import Model
from learning.data.examples import Example
from learning.memory.tasks import LessonTask

RIDGE = 1e-3
"""Added to C's diagonal, as a share of its mean."""


def rank_one(weight: Tensor, key: Tensor, value: Tensor, direction: Tensor) -> Tensor:
    """The change of the weight [D, F] after which `key` [F] gives `value` [D], along `direction` [F]."""
    return torch.outer(value - weight @ key, direction / (direction @ key))


class Rome:
    """Edits of one MLP per lesson."""

    def __init__(self, model: Model, kept: Sequence[Example]) -> None:
        """kept: own talk and book, whose keys are to be disturbed least."""
        self._model, self._talk, self._block = model, list(kept), edited_block(model)
        moment = second_moments(model, [self._block], kept)[self._block]
        moment.diagonal().add_(RIDGE * float(moment.diagonal().mean()))
        self._factor = torch.linalg.cholesky(moment)

    def learn(self, lesson: LessonTask) -> float:
        return in_pieces(self._model, lesson.answer, self._edit)

    def _edit(self, piece: Example) -> float:
        found = wanted(self._model, self._block, piece, self._talk)
        direction = torch.cholesky_solve(found.mean_key[:, None], self._factor)[:, 0]
        weight = down(self._model, self._block).weight
        with torch.no_grad():
            value = weight @ found.key + found.change
            weight.add_(rank_one(weight, found.key, value, direction))
        return found.loss
