"""Data-parallel training: each process computes its own rows, all take the same step.

Gradients are averaged in one all-reduce after the last micro-batch. At these model sizes that is cheap
compared with the step and works with torch.compile. Every process then has the same gradients, so Muon
and AdamW make the same update everywhere, and nothing else needs to be sent.
Left out: sharded weights (the models are small), several devices per process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class ProcessGroup:
    """The processes of a run. With size 1 nothing is sent."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """True for the process that reports and saves (rank 0)."""
        return self.rank == 0

    def share_weights(self, model: nn.Module) -> None:
        """Copies the weights of rank 0 to all processes."""
        if self.size > 1:
            for parameter in model.parameters():
                dist.broadcast(parameter.data, 0)

    def average(self, model: nn.Module, loss: Tensor) -> Tensor:
        """Replaces the gradients by their mean over all processes; returns the mean loss."""
        if self.size == 1:
            return loss
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        flat = torch.cat([*(g.flatten() for g in gradients), loss.reshape(1).to(gradients[0])])
        dist.all_reduce(flat)
        flat /= self.size
        for gradient, mean in zip(
            gradients, flat[:-1].split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(mean.view_as(gradient))
        return flat[-1]

    def agree(self, *numbers: float, device: torch.device) -> list[float]:
        """Returns rank 0's numbers in every process, so that all make the same decision although clocks
        and key presses differ."""
        if self.size == 1:
            return list(numbers)
        sent = torch.tensor(numbers, dtype=torch.float64, device=device)
        dist.broadcast(sent, 0)
        return [float(n) for n in sent]

    def wait(self) -> None:
        """Blocks until all processes have called it."""
        if self.size > 1:
            dist.barrier()


ALONE = ProcessGroup()


@contextmanager
def team_of_environment(device: str) -> Iterator[tuple[ProcessGroup, str]]:
    """Yields the process group that `torchrun` started and this process's device; otherwise a group of
    one and `device`."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield ALONE, device
        return
    if device.startswith("cuda"):
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), size), device
    finally:
        dist.destroy_process_group()
