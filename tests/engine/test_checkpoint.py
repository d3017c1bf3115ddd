from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from engine.checkpoint import load_model, save_config, save_model
from engine.checkpoint_files import WEIGHTS
from engine.errors import CheckpointError
from engine.model import Model


def test_transformers_reads_what_we_write_and_the_other_way(
    tiny_model: Model, tmp_path: Path
) -> None:
    from transformers import LlamaForCausalLM

    save_model(tiny_model, tmp_path / "ours", dtype=torch.float32)
    theirs = LlamaForCausalLM.from_pretrained(tmp_path / "ours", dtype=torch.float32)
    ids = torch.randint(0, 300, (2, 20), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = theirs(ids).logits
        torch.testing.assert_close(tiny_model(ids), expected, rtol=1e-4, atol=1e-5)
        theirs.save_pretrained(tmp_path / "theirs")
        again = load_model(tmp_path / "theirs")
        torch.testing.assert_close(again(ids), expected, rtol=1e-4, atol=1e-5)


def test_a_cut_file_is_refused(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    whole = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="no whole safetensors"):
        load_model(tmp_path)


def test_a_pickled_checkpoint_is_refused(tiny_model: Model, tmp_path: Path) -> None:
    save_config(tiny_model.config, tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(CheckpointError, match="pickled"):
        load_model(tmp_path)


def test_weights_of_another_shape_are_refused(tiny_model: Model, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    save_config(dataclasses.replace(tiny_model.config, hidden=64), tmp_path)
    with pytest.raises(CheckpointError, match="does not fit"):
        load_model(tmp_path)


def test_numbers_that_are_not_finite_are_refused(tiny_model: Model, tmp_path: Path) -> None:
    with torch.no_grad():
        tiny_model.norm.weight[0] = float("nan")
    save_model(tiny_model, tmp_path)
    with pytest.raises(CheckpointError, match="not finite"):
        load_model(tmp_path)
