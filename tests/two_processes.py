"""Runs a function in two processes that share the work, as `torchrun` starts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn

from learning.objectives.processes import ProcessGroup

Work = Callable[[ProcessGroup, Path], None]


def in_two_processes(work: Work, out: Path) -> None:
    """Calls work(group, out) in each. work: a function of a module, because it is sent by name."""
    spawn(_process, (work, out), nprocs=2)


def _process(rank: int, work: Work, out: Path) -> None:
    dist.init_process_group("gloo", f"file://{out}/meeting", rank=rank, world_size=2)
    torch.set_num_threads(1)
    work(ProcessGroup.current(), out)
    dist.destroy_process_group()
