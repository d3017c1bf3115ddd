"""Weights as int8 with one float32 scale for each row: a quarter of their size in float32.

A matrix W is stored as q = round(W / s) with s = max|row| / 127 (the absmax quantization of LLM.int8(),
2208.07339, by rows), so a number is off by at most s / 2. Vectors stay as they are. Left out: products in
int8; weights are multiplied as the floating-point numbers that they were read as.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.storage.checkpoint import load_tensors, save_tensors

SCALE = ".scale"
_LARGEST = 127.0


def save_int8(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes the matrices of `tensors` as int8 and all else in float32. Raises CheckpointError."""
    found = dict[str, Tensor]()
    for name, tensor in tensors.items():
        values = tensor.detach().float().cpu()
        if values.dim() != 2:
            found[name] = values
            continue
        scale = values.abs().amax(1, keepdim=True).clamp_min(1e-12) / _LARGEST
        found[name] = (values / scale).round().to(torch.int8)
        found[name + SCALE] = scale
    save_tensors(found, path)


def load_int8(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that `save_int8` wrote, in float32. Raises CheckpointError, also where a matrix
    has no scale."""
    found, _ = load_tensors(path)
    scales = {name: found.pop(name) for name in list(found) if name.endswith(SCALE)}
    short = {name for name, tensor in found.items() if tensor.dtype == torch.int8}
    if short != {name.removesuffix(SCALE) for name in scales}:
        raise CheckpointError(
            f"{path}: matrices and their scales do not fit each other", "copy the file again"
        )
    return {
        name: tensor.float() * scales[name + SCALE] if name in short else tensor.float()
        for name, tensor in found.items()
    }
