"""Our loss is TRL's, term by term. Skipped where TRL is not installed (extra `bench`)."""

from __future__ import annotations

import pytest
from torch import Tensor

pytest.importorskip("trl")

from benchmarks.practising.practice_trl import compare_losses  # noqa: E402
from learning.maths.policy import clipped_surrogate  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_term_agrees(seed: int) -> None:
    differences = compare_losses(seed)
    assert differences.keys() == {"advantages", "loss", "kl", "clipped", "gradient"}
    assert max(differences.values()) < 2e-6, differences


@pytest.mark.slow
def test_a_difference_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(now: Tensor, was: Tensor, weights: Tensor, low: float, high: float) -> Tensor:
        return clipped_surrogate(now, was, weights, low, 0.2)

    monkeypatch.setattr("benchmarks.practising.practice_trl.clipped_surrogate", narrow)
    assert compare_losses(0)["loss"] > 1e-4
