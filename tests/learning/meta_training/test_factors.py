"""learning.meta_training.factors: what a run begins with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.config import CONFIGS
from engine.errors import CheckpointError
from engine.lora import LoraSettings, attach
from engine.model import Model
from engine.storage.adapter_files import a_name, b_name
from engine.storage.checkpoint import load_model
from learning.meta_training.factors import ALPHA, RANK, start_adapters

from .conftest import drawn_adapters

IDS = torch.arange(20).view(2, 10)


def test_new_adapters_do_not_change_the_model_and_follow_the_seed(base: Path) -> None:
    model = load_model(base)
    before = model(IDS)
    adapters = start_adapters(model, None, 3)
    assert torch.equal(model(IDS), before)
    assert (adapters.settings.rank, adapters.settings.alpha) == (RANK, ALPHA)
    first, again, other = (start_adapters(load_model(base), None, n).tensors() for n in (3, 3, 4))
    name = a_name(1, "up")
    assert torch.equal(first[name], again[name]) and not torch.equal(first[name], other[name])
    assert 0.9 < first[name].abs().max() * 32**0.5 <= 1.0, "uniform up to 1 / sqrt(I)"


def test_one_of_the_upper_blocks_is_kept_and_the_others_begin_anew(
    base: Path, tmp_path: Path
) -> None:
    model = load_model(base)
    upper = attach(model, LoraSettings(rank=2, alpha=6, first_block=1))
    with torch.no_grad():
        for factor in upper.parameters():
            factor.add_(0.25)
    upper.save(tmp_path, dtype=torch.float32)
    expected = model(IDS)
    again = load_model(base)
    adapters = start_adapters(again, tmp_path, 0)
    torch.testing.assert_close(again(IDS), expected)
    assert adapters.settings.scale == 3.0 and adapters.settings.first_block == 0
    tensors = adapters.tensors()
    assert torch.equal(tensors[b_name(1, "k")], upper.tensors()[b_name(1, "k")])
    assert not tensors[b_name(0, "k")].any() and tensors[a_name(0, "k")].any()


def test_one_of_another_model_is_refused(base: Path, tmp_path: Path) -> None:
    drawn_adapters(load_model(base)).save(tmp_path)
    with pytest.raises(CheckpointError):
        start_adapters(Model(replace(CONFIGS["tiny"], layers=3)), tmp_path, 0)
