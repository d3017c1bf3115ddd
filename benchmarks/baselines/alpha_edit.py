"""AlphaEdit (2410.02355): MEMIT whose change is projected onto the null space of the kept keys.

    Δ = R Kᵀ P (Kₚ Kₚᵀ P + K Kᵀ P + α I)⁻¹

P projects onto the eigenvectors of C, the second moment of the keys of own talk and book, that these keys
hardly use; so Δ times such a key is zero, and no weight λ is needed. Kₚ are the keys of earlier edits, which
keep their values too (its eq. 14).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.baselines.memit import Memit
from benchmarks.baselines.mlp_memory import down
from engine.model import Model
from learning.data.examples import Example

SHARE = 0.02
"""Share of the keys' squared length, at most, in the directions that count as unused. The paper takes
eigenvalues below 0.02, of keys of another size."""
ALPHA = 0.01
"""α as a share of the squared length of the new key's unused part."""


def null_projection(moment: Tensor, share: float = SHARE) -> Tensor:
    """P [F, F] onto the eigenvectors with the smallest eigenvalues of the moment [F, F], which together have
    at most `share` of its trace."""
    values, vectors = torch.linalg.eigh(moment.double())
    values = values.clamp_min(0.0)
    unused = values.cumsum(0) <= share * values.sum()
    chosen = vectors[:, unused]
    return (chosen @ chosen.T).to(moment.dtype)


def projected_squares(
    lacking: Tensor, keys: Tensor, projection: Tensor, earlier: Tensor, alpha: float
) -> Tensor:
    """Δ [D, F] as above. lacking: R [D, N]; keys: K [F, N]; projection: P; earlier: Kₚ Kₚᵀ [F, F]."""
    inner = (earlier + keys @ keys.T) @ projection
    inner.diagonal().add_(alpha)
    return lacking @ keys.T @ projection @ torch.linalg.inv(inner)


class AlphaEdit(Memit):
    """Projected edits of several MLPs per lesson."""

    def __init__(self, model: Model, kept: Sequence[Example]) -> None:
        super().__init__(model, kept)
        self._projection = {b: null_projection(self._kept[b]) for b in self._blocks}
        width = down(model, 0).weight.shape[1]
        self._earlier = {b: torch.zeros(width, width) for b in self._blocks}

    def _change(self, block: int, lacking: Tensor, key: Tensor) -> Tensor:
        projection, earlier = self._projection[block], self._earlier[block]
        alpha = ALPHA * max(1e-9, float((projection @ key).square().sum()))
        change = projected_squares(lacking, key, projection, earlier, alpha)
        self._earlier[block] = earlier + key @ key.T
        return change
