"""What tests of generation watch."""

from __future__ import annotations

import pytest
import torch

from engine.packed import PackedModel


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of tokens a row in each pass through a packed model, in order."""
    found: list[int] = []
    states = PackedModel.hidden_states

    def counted(self: PackedModel, ids: torch.Tensor, **keywords: object) -> torch.Tensor:
        found.append(ids.shape[1])
        return states(self, ids, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(PackedModel, "hidden_states", counted)
    return found
