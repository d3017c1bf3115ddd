"""Several processes that train one model: each makes its own rows, all take the same step.

Gradients are averaged by hand in one message, after the last micro-batch: at these sizes that costs
little beside the step, works with torch.compile, and leaves every process with the same gradients,
so that Muon and AdamW make the same update everywhere and nothing else needs to be sent.
Left out: sharded weights (the models are small), more than one device a process.
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
    """The processes of a run. A team of one sends nothing."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process reports and saves."""
        return self.rank == 0

    def share_weights(self, model: nn.Module) -> None:
        """All take the weights of the first."""
        if self.size > 1:
            for parameter in model.parameters():
                dist.broadcast(parameter.data, 0)

    def average(self, model: nn.Module, loss: Tensor) -> Tensor:
        """Replaces the gradients by their mean over the team; returns the mean loss."""
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
        """The numbers of the first process: clocks and key presses differ, decisions must not."""
        if self.size == 1:
            return list(numbers)
        sent = torch.tensor(numbers, dtype=torch.float64, device=device)
        dist.broadcast(sent, 0)
        return [float(n) for n in sent]

    def wait(self) -> None:
        """Until all are here."""
        if self.size > 1:
            dist.barrier()


ALONE = ProcessGroup()


@contextmanager
def team_of_environment(device: str) -> Iterator[tuple[ProcessGroup, str]]:
    """The team that `torchrun` started, and this process's device; else a team of one."""
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
