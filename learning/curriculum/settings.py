"""Settings of a curriculum, and the names of its methods. Loads no torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from learning.objectives.settings import check, variant

if TYPE_CHECKING:
    from learning.curriculum.interface import Curriculum

METHODS = {
    "uniform": "learning.curriculum.methods:Uniform",
    "thresholds": "learning.curriculum.methods:Thresholds",
    "sec": "learning.curriculum.methods:Boltzmann",
    "exp3": "learning.curriculum.methods:Exp3",
    "progress": "learning.curriculum.methods:LearningProgress",
}
"""Name of each method, as one types it -> "module:class"."""


@dataclass(frozen=True)
class CurriculumSettings:
    """How problems, or tokens, are divided among several arms (learning.curriculum.methods)."""

    method: Callable[[int, CurriculumSettings], Curriculum] = variant("sec", **METHODS)
    """All alike; one after another by success; where advantages are largest (SEC); the same without
    assumptions (Exp3); where success changes."""
    floor: float = 0.05
    """Share of the problems that all arms get alike whatever is chosen, 0 to 1."""
    first: float = 0.0
    """Share of the problems that the first arm gets whatever is chosen, 0 to 1; in idle practice all rungs of
    the owner's task together."""
    rate: float = 0.5
    """α of SEC: how fast its estimates follow, above 0, at most 1."""
    temperature: float = 0.2
    """τ of SEC in units of the reward, above 0: smaller is greedier."""
    exploration: float = 0.2
    """γ of Exp3, above 0, at most 1: its step, and the share that it gives to all arms alike."""
    share: float = 0.05
    """What every arm's weight gives to the others after each step of Exp3, 0 to 1."""
    last: int = 256
    """Problems on which `thresholds` measures an arm, >= 1."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        check(
            self,
            "curriculum",
            **{name: 0.0 <= getattr(self, name) <= 1.0 for name in ("floor", "first", "share")},
            **{name: 0.0 < getattr(self, name) <= 1.0 for name in ("rate", "exploration")},
            temperature=0.0 < self.temperature < math.inf,
            last=self.last >= 1,
        )
