"""For tests of conversations: values that are given, and a detective who asks what is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from learning.agents.interface import Trajectory
from learning.rewards.dialogue import DialogueTask
from learning.rewards.task import Problem


def value_of(values: Sequence[float]) -> Callable[[Trajectory[Any, Any]], Tensor]:
    """The same values for every conversation."""
    return lambda _: torch.tensor(values, dtype=torch.float64)


def play(task: DialogueTask, problem: Problem, replies: Sequence[str]) -> float:
    """The score of these replies."""
    (score,) = task.score(problem, ["\n".join(replies)])
    return score.total
