"""learning.pretraining.loop: a run in float32 is the same wherever bfloat16 would be faster."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from learning.maths import optim
from learning.pretraining import loop
from learning.pretraining.loop import fresh_model, pretrain
from tests.learning.pretraining.test_loop import CONFIG, SETTINGS, _stream


def test_with_fp32_muon_computes_in_float32_where_bfloat16_is_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def losses(fastest: torch.dtype) -> list[float]:
        for module in (optim, loop):
            monkeypatch.setattr(module, "fast_dtype", lambda _: fastest)
        settings = replace(SETTINGS, fp32=True, tokens=3 * 256)
        return [entry[1] for entry in pretrain(fresh_model(CONFIG, 0), _stream(), settings).curve]

    assert losses(torch.bfloat16) == losses(torch.float32)
