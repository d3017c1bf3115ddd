"""How one run of practice goes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from engine.errors import ConfigError
from engine.rollout import ROWS
from learning.maths.policy import standardised_advantages
from learning.memory.retention import RetentionSettings
from learning.objectives.grpo import GrpoSettings


@dataclass(frozen=True)
class WarmUpSettings:
    """Supervised steps on worked examples."""

    lr: float = 5e-4
    """Peak rate of AdamW."""
    batch: int = 32
    """Worked examples a step."""
    ramp: int = 10
    """Steps until the full rate."""
    measure_every: int = 10
    """Steps between two looks at the success rate, which can rise by a third in so many."""
    measured: int = 96
    """Answers in a look, one to each problem."""
    enough: float = 0.2
    """Success rate at which it ends, 0 to 1: far from where there is nothing left to prefer."""
    steps: int = 200
    """The limit: the tasks that come with vidya took 32 at most."""
    keep: RetentionSettings = field(default_factory=lambda: RetentionSettings(talk_weight=10.0))
    """Worked examples are far from what the model would say, so own talk weighs more than later."""


@dataclass(frozen=True)
class PracticeSettings:
    """Defaults for 10M weights; benchmarks/results/ has what came of them."""

    steps: int = 100
    groups: int = 32
    """Problems a step whose answers differ in reward."""
    group_size: int = 4
    """Answers to each, >= 2."""
    max_tokens: int = 96
    """Longest answer."""
    redraws: int = 2
    """Times that problems whose answers all scored alike are replaced in a step."""
    updates: int = 2
    """Optimizer steps a rollout takes, each on its share of the groups ..."""
    passes: int = 1
    """... and times that each group is used."""
    lr: float = 1.5e-4
    """Of AdamW."""
    ramp: int = 5
    """Optimizer steps until the full rate."""
    advantages: Callable[[Tensor], Tensor] = standardised_advantages
    objective: GrpoSettings = field(default_factory=GrpoSettings)
    keep: RetentionSettings = field(default_factory=RetentionSettings)
    warm_up: WarmUpSettings = field(default_factory=WarmUpSettings)
    held_out: int = 100
    """Problems that accuracy is measured on."""
    measure_every: int = 10
    """Steps between two looks at held-out accuracy and book; weights are published there."""
    rows: int = ROWS
    """Answers drawn at a time."""
    patience: int = 3
    """Steps without any right answer, or without any wrong one, before it ends."""
    shown: int = 3
    """Samples of each step that are told."""
    seconds: float = math.inf
    """Limit of time."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        bounds = {
            "steps": self.steps >= 0,
            "groups": self.groups >= 1,
            "group_size": self.group_size >= 2,
            "max_tokens": self.max_tokens >= 1,
            "updates": 1 <= self.updates <= self.groups,
            "passes": self.passes >= 1,
            "held_out": self.held_out >= 1,
            "measure_every": self.measure_every >= 1,
        }
        for name, good in bounds.items():
            if not good:
                raise ConfigError(
                    f"practice: {name} is {getattr(self, name)}",
                    "answers are compared with each other, so a group needs at least 2; all else is "
                    "at least 1, and there are no more updates than groups",
                )
