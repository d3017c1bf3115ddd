"""Chooses the dtype that a device multiplies fastest: bfloat16 if the hardware supports it, else float32.

A CPU without bfloat16 instructions multiplies bfloat16 matrices hundreds of times slower than float32, a CPU
with them about four times faster. So each process measures it once.
"""

from __future__ import annotations

import contextlib
import functools
import time
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from engine.threads import one_core


@functools.cache
def fast_dtype(kind: str) -> torch.dtype:
    """bfloat16 or float32 for a device type ("cpu", "cuda"). The first call takes a few milliseconds."""
    if kind == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if kind != "cpu":
        return torch.float32
    with one_core():  # on a busy machine threads wait for each other longer than they multiply
        # a small product first, because without the instructions a larger one takes 0.1 s
        fast = _ratio(32, 256) < 5.0 and _ratio(64, 512) < 0.8
    return torch.bfloat16 if fast else torch.float32


def _ratio(rows: int, side: int) -> float:
    """Time of a product [rows, side] x [side, side] in bfloat16 divided by that in float32. For a small
    product the overhead dominates."""
    plain = torch.ones(rows, side), torch.ones(side, side)
    short = plain[0].bfloat16(), plain[1].bfloat16()
    return _seconds(*short) / _seconds(*plain)


def _seconds(a: Tensor, b: Tensor) -> float:
    """Seconds of one product; the best of five."""
    taken = []
    with torch.no_grad():
        for _ in range(5):
            started = time.perf_counter()
            a @ b
            taken.append(time.perf_counter() - started)
    return min(taken)


def autocast(device: torch.device) -> AbstractContextManager[object]:
    """A context with matrix products in bfloat16 if that is fast; weights and sums keep their dtype."""
    if fast_dtype(device.type) == torch.float32:
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16)
