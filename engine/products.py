"""Matrix products in bfloat16 on a CPU: in few different shapes, and without casting frozen weights again.

oneDNN compiles a kernel for each shape. For a shape that it has not seen this takes two to six times as long
as the product itself, and batches of text have a new number of rows almost every time. So rows are filled up
with zeros, and the few shapes that are left stay in the caches (vidya_tui.worker.environment).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.weak import WeakTensorKeyDictionary

ROWS = 64
"""The number of rows is filled up to a multiple of this. A kernel for such a number also compiles faster."""
KEPT = 2**26
"""Numbers that `product` keeps in bfloat16 at most, of all frozen weights of the process: 128 MB."""
_short = WeakTensorKeyDictionary()
"""Frozen weight -> (its state when it was cast, the cast weight)."""
_LOCK = threading.Lock()
"""Held while that is changed or counted."""


class Linear(nn.Linear):
    """nn.Linear without bias; its product is `product`."""

    def __init__(self, inputs: int, outputs: int, device: str | None = None) -> None:
        super().__init__(inputs, outputs, bias=False, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., I]. Returns [..., O]."""
        return product(x, self.weight)


def product(x: Tensor, weight: Tensor) -> Tensor:
    """x [..., I] times the transpose of weight [O, I]: [..., O], under autocast in its dtype."""
    if not _is_short(x):
        return F.linear(x, weight)
    weight = shortened(weight, KEPT)
    rows = x.shape[:-1].numel()
    spare = filled_up(rows) - rows
    if not spare:
        return F.linear(x, weight)
    flat = x.reshape(rows, x.shape[-1])
    filled = torch.cat([flat, flat.new_zeros(spare, x.shape[-1])])
    return F.linear(filled, weight)[:rows].view(*x.shape[:-1], -1)


def filled_up(rows: int) -> int:
    """The number of rows that `product` multiplies in place of this one."""
    return -(-rows // ROWS) * ROWS


def shortened(weight: Tensor, most: int | None = None) -> Tensor:
    """A frozen weight in the dtype of autocast, kept until the weight changes: autocast would cast it again
    in every pass. Without autocast, and in training, the weight itself.

    most: numbers that are kept in all; None: as many as there are. A weight that does not fit is returned as
    it is."""
    kind = weight.device.type
    if torch.compiler.is_compiling() or not torch.is_autocast_enabled(kind):
        return weight
    dtype = torch.get_autocast_dtype(kind)
    if weight.dtype == dtype:
        return weight
    if weight.requires_grad:
        let_go([weight])  # fused optimizers do not update the version of what they change
        return weight
    state = StorageWeakRef(weight.untyped_storage()), weight._version, dtype
    kept: tuple[object, Tensor] | None = _short.get(weight)
    if kept is None or kept[0] != state:
        with _LOCK:
            _short.pop(weight, None)
            taken = sum(cast.numel() for _, cast in _short.values())
            if most is not None and taken + weight.numel() > most:
                return weight
            with torch.inference_mode(False), torch.no_grad():
                kept = state, weight.detach().to(dtype)
            _short[weight] = kept
    return kept[1]


def let_go(weights: Iterable[Tensor]) -> None:
    """Frees what `shortened` keeps of these weights."""
    for weight in weights:
        if weight in _short:
            with _LOCK:
                _short.pop(weight, None)


def _is_short(x: Tensor) -> bool:
    """Whether its products are in bfloat16 on a CPU, and not compiled for their one shape."""
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    if torch.is_autocast_enabled("cpu"):
        return torch.get_autocast_dtype("cpu") == torch.bfloat16
    return x.dtype == torch.bfloat16
