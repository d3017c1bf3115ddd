"""Which numbers a device multiplies fastest: bfloat16 where the hardware has it, else float32.

A CPU without bfloat16 instructions multiplies such matrices hundreds of times slower than float32,
one that has them about four times faster, so it is measured once in a process and not guessed.
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
    """bfloat16 or float32, for a device type ("cpu", "cuda"). Takes a few milliseconds once."""
    if kind == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if kind != "cpu":
        return torch.float32
    with one_core():  # on a busy machine one thread waits for another longer than it multiplies
        # a small product first: without the instructions a larger one takes a tenth of a second
        fast = _ratio(32, 256) < 5.0 and _ratio(64, 512) < 0.8
    return torch.bfloat16 if fast else torch.float32


def _ratio(rows: int, side: int) -> float:
    """Time of a product [rows, side] x [side, side] in bfloat16 over that in float32. Of a small one
    the preparation takes longer than the product."""
    plain = torch.ones(rows, side), torch.ones(side, side)
    short = plain[0].bfloat16(), plain[1].bfloat16()
    return _seconds(*short) / _seconds(*plain)


def _seconds(a: Tensor, b: Tensor) -> float:
    """Of one product, the best of five."""
    taken = []
    with torch.no_grad():
        for _ in range(5):
            started = time.perf_counter()
            a @ b
            taken.append(time.perf_counter() - started)
    return min(taken)


def autocast(device: torch.device) -> AbstractContextManager[object]:
    """Matrix products in bfloat16 where that is fast; weights and sums stay as they are."""
    if fast_dtype(device.type) == torch.float32:
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16)
