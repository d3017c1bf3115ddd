"""A made-up learner on a ladder: what a curriculum has to find, without a model.

Level k is answered rightly with probability σ(skill - k · STEEP), where the skill of each level grows with
the advantages of the groups drawn there and, by SPREAD a level, of those near it. Levels far above the skill
give dead groups and so nothing, levels far below too: as in practice (learning.practice).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from learning.curriculum.interface import Visit
from learning.practice.supply.mixture import mean_advantage

GROUP = 4
START = -1.4
"""Log-odds of the easiest level at first: a fifth is right, which is where warm-up ends."""
STEEP = 1.0
"""Log-odds by which each level is harder than the one before."""
RATE = 0.03
"""Log-odds that a group with advantage 1 adds to its level."""
SPREAD = 0.5
"""What of it reaches the next level, and of that the next, on both sides."""


class MadeLearner:
    """Skill at each of some levels."""

    def __init__(self, levels: int) -> None:
        self._odds = [START - STEEP * level for level in range(levels)]
        self.rollouts = 0
        """Answers so far."""

    def success(self) -> list[float]:
        """Probability of a right answer at each level."""
        return [1 / (1 + math.exp(-odds)) for odds in self._odds]

    def practise(self, levels: Sequence[int], rng: random.Random) -> list[Visit]:
        """Answers one problem of each of these levels GROUP times and learns from all together."""
        right, visits = self.success(), []
        for level in levels:
            rewards = [float(rng.random() < right[level]) for _ in range(GROUP)]
            visits.append(Visit(level, mean_advantage(rewards), sum(rewards) / GROUP))
        self.rollouts += GROUP * len(levels)
        for visit in visits:
            for level in range(len(self._odds)):
                self._odds[level] += RATE * visit.gain * SPREAD ** abs(level - visit.arm)
        return visits
