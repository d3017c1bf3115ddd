"""Settings of a run of practice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from engine.errors import ConfigError
from engine.rollout import ROWS
from learning.agents.credit import Credit, GroupAdvantages, whole_answer
from learning.maths.policy import standardised_advantages
from learning.memory.retention import RetentionSettings
from learning.objectives.grpo import GrpoSettings
from learning.practice.critic import CriticSettings


@dataclass(frozen=True)
class WarmUpSettings:
    """Supervised training on worked examples."""

    lr: float = 5e-4
    """Peak learning rate of AdamW."""
    batch: int = 32
    """Worked examples per step."""
    ramp: int = 10
    """Steps of linear learning-rate warm-up."""
    measure_every: int = 10
    """Steps between measurements of the success rate, which can rise by a third in ten steps."""
    measured: int = 96
    """Problems per measurement, with one sampled answer each."""
    enough: float = 0.2
    """Success rate that ends warm-up, 0 to 1; low, so that groups still differ in reward."""
    steps: int = 200
    """Most steps; the tasks that come with vidya took at most 32."""
    keep: RetentionSettings = field(default_factory=lambda: RetentionSettings(talk_weight=10.0))
    """Worked examples are far from what the model would say, so own talk weighs more than later."""


@dataclass(frozen=True)
class PracticeSettings:
    """Defaults for models of 10M weights; benchmarks/results/practice*.md has measurements."""

    steps: int = 100
    """Most steps; each is one rollout with its updates."""
    groups: int = 32
    """Problems per step whose answers differ in reward."""
    group_size: int = 4
    """Answers per problem; >= 2."""
    max_tokens: int = 96
    """Longest answer in tokens."""
    redraws: int = 2
    """How often a step replaces problems whose answers all have the same reward."""
    updates: int = 2
    """Optimizer steps per pass over a rollout, each on its share of the groups."""
    passes: int = 1
    """Passes over each rollout."""
    lr: float = 1.5e-4
    """Peak learning rate of AdamW."""
    ramp: int = 5
    """Optimizer steps of linear learning-rate warm-up."""
    advantages: Callable[[Tensor], Tensor] = standardised_advantages
    """Rewards [N, G] -> advantages [N, G]."""
    credit: Callable[[GroupAdvantages], Credit] = whole_answer
    """How advantages of answers become those of their tokens (learning.agents.credit)."""
    critic: CriticSettings | None = None
    """Credits tokens by a learned value in place of `credit`, once the value is good enough; None: never."""
    objective: GrpoSettings = field(default_factory=GrpoSettings)
    keep: RetentionSettings = field(default_factory=RetentionSettings)
    warm_up: WarmUpSettings = field(default_factory=WarmUpSettings)
    held_out: int = 100
    """Problems on which accuracy is measured."""
    measure_every: int = 10
    """Steps between save points, at which accuracy and recall are measured."""
    rows: int = ROWS
    """Answers decoded at a time."""
    patience: int = 3
    """Steps in a row with dead groups only, after which the run ends."""
    shown: int = 3
    """Samples of each step that are reported."""
    seconds: float = math.inf
    """Time limit of the run."""

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
