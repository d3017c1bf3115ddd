"""Data-parallel training: each process computes its own part, all take the same step.

`torchrun` starts the processes. Gradients are summed in one all-reduce after the last micro-batch, which at
these model sizes is cheap compared with the step. Every process then has the same gradients, so Muon and
AdamW make the same update everywhere, and weights are never sent again.
Left out: sharded weights (the models are small), several devices per process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

APART = 1_000_003
"""Between the seeds of two processes."""
Item = TypeVar("Item")


@dataclass(frozen=True)
class ProcessGroup:
    """The processes of a run. With size 1 nothing is sent. All methods that send are collective: every
    process must call them, in the same order."""

    rank: int = 0
    size: int = 1

    @classmethod
    def current(cls) -> ProcessGroup:
        """The group that this process has joined (`team_of_environment`); of one process if it has not."""
        joined = dist.is_available() and dist.is_initialized()
        return cls(dist.get_rank(), dist.get_world_size()) if joined else ALONE

    @property
    def leads(self) -> bool:
        """True for the process that reports and saves (rank 0)."""
        return self.rank == 0

    def own_seed(self, seed: int) -> int:
        """A seed for what each process draws by itself: another one in each, `seed` in the first."""
        return seed + APART * self.rank

    def share_weights(self, model: nn.Module) -> None:
        """Copies the weights of rank 0 to all processes."""
        if self.size > 1:
            for parameter in model.parameters():
                dist.broadcast(parameter.data, 0)

    def share(self, items: Sequence[Item]) -> list[Item]:
        """This process's share of the items: every `size`-th, from the one at `rank` on."""
        return list(items[self.rank :: self.size])

    def gather(self, own: Sequence[Item]) -> list[Item]:
        """The shares of all processes put together in their order before `share`."""
        if self.size == 1:
            return list(own)
        parts: list[Any] = [None] * self.size
        dist.all_gather_object(parts, list(own))
        longest = max(map(len, parts))
        return [part[place] for place in range(longest) for part in parts if place < len(part)]

    def sum_gradients(self, tensors: Sequence[Tensor], *numbers: float) -> list[float]:
        """Replaces the gradients of the tensors, and the numbers, by their sums over all processes; returns
        the numbers. A tensor without a gradient counts as zero."""
        if self.size == 1:
            return list(numbers)
        gradients = [torch.zeros_like(t) if t.grad is None else t.grad for t in tensors]
        sums = torch.tensor(numbers, dtype=gradients[0].dtype, device=gradients[0].device)
        flat = torch.cat([*(g.flatten() for g in gradients), sums])
        dist.all_reduce(flat)
        *found, sums = flat.split([*(g.numel() for g in gradients), len(numbers)])
        for tensor, gradient, total in zip(tensors, gradients, found, strict=True):
            tensor.grad = gradient.copy_(total.view_as(gradient))
        return [float(n) for n in sums]

    def average(self, model: nn.Module, loss: Tensor) -> Tensor:
        """Replaces the gradients by their mean over all processes; returns the mean loss."""
        if self.size == 1:
            return loss
        tensors: list[Tensor] = [p for p in model.parameters() if p.grad is not None]
        (total,) = self.sum_gradients(tensors, float(loss))
        for tensor in tensors:
            assert tensor.grad is not None
            tensor.grad /= self.size
        return loss.new_tensor(total / self.size)

    def total(self, *numbers: float) -> list[float]:
        """The sums of the numbers over all processes."""
        if self.size == 1:
            return list(numbers)
        sent = torch.tensor(numbers, dtype=torch.float64, device=_device())
        dist.all_reduce(sent)
        return [float(n) for n in sent]

    def agree(self, *numbers: float) -> list[float]:
        """Returns rank 0's numbers in every process, so that all make the same decision although clocks
        and key presses differ."""
        if self.size == 1:
            return list(numbers)
        sent = torch.tensor(numbers, dtype=torch.float64, device=_device())
        dist.broadcast(sent, 0)
        return [float(n) for n in sent]

    def wait(self) -> None:
        """Blocks until all processes have called it."""
        if self.size > 1:
            dist.barrier()


ALONE = ProcessGroup()


def started_together() -> bool:
    """True if `torchrun` started this process with others."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def team_of_environment(device: str) -> Iterator[tuple[ProcessGroup, str]]:
    """Yields the process group that `torchrun` started and this process's device; otherwise a group of
    one and `device`."""
    if not started_together():
        yield ALONE, device
        return
    if device.startswith("cuda"):
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), dist.get_world_size()), device
    finally:
        dist.destroy_process_group()


def _device() -> torch.device:
    """Where the processes exchange numbers."""
    nccl = dist.get_backend() == "nccl"
    return torch.device("cuda", torch.cuda.current_device()) if nccl else torch.device("cpu")
