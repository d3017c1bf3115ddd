"""Weights as int8 with a scale per row."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors
from engine.storage.int8_file import SCALE, load_int8, save_int8


def test_numbers_are_off_by_half_a_step_of_their_row_at_most(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(7, 50, generator=generator) * torch.logspace(-3, 3, 7)[:, None]
    vector = torch.randn(50, generator=generator)
    save_int8({"matrix": matrix, "vector": vector}, tmp_path / "w")
    found = load_int8(tmp_path / "w")
    step = matrix.abs().amax(1, keepdim=True) / 127
    assert ((found["matrix"] - matrix).abs() <= step * 0.501).all()
    assert torch.equal(found["vector"], vector)
    assert all(tensor.dtype == torch.float32 for tensor in found.values())
    assert load_tensors(tmp_path / "w")[0]["matrix"].dtype == torch.int8


def test_a_row_of_zeros_stays_one_and_what_was_written_is_written_the_same_again(
    tmp_path: Path,
) -> None:
    matrix = torch.tensor([[0.0, 0.0], [1.0, -2.0]])
    save_int8({"m": matrix}, tmp_path / "first")
    found = load_int8(tmp_path / "first")
    assert torch.equal(found["m"][0], torch.zeros(2))
    save_int8(found, tmp_path / "second")
    assert torch.equal(load_int8(tmp_path / "second")["m"], found["m"])


def test_a_matrix_without_its_scale_is_refused(tmp_path: Path) -> None:
    save_int8({"a": torch.ones(2, 2), "b": torch.ones(2, 2)}, tmp_path / "w")
    tensors, _ = load_tensors(tmp_path / "w")
    for missing in ("a", "a" + SCALE):
        save_tensors({k: v for k, v in tensors.items() if k != missing}, tmp_path / "half")
        with pytest.raises(CheckpointError, match="half: matrices and their scales"):
            load_int8(tmp_path / "half")
    with pytest.raises(CheckpointError):
        load_int8(tmp_path / "nothing")
