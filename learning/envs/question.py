"""A practice task as a world of one step: the problem is seen, the answer is scored."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.errors import DataError
from learning.agents.interface import TimeStep
from learning.rewards.task import Problem, Score, Split, Task


@dataclass
class QuestionEnvironment:
    """Observation: the problem's prompt; action: the text of an answer; reward: its score, 0 to 1. Equal
    seeds give equal problems, so that answers can be compared in a group."""

    task: Task
    split: Split = "train"
    problem: Problem | None = None
    """The problem of this episode."""
    score: Score | None = None
    """Of the last answer. A verifier that failed pays 0 and says so in `failed`."""

    def reset(self, rng: random.Random) -> TimeStep[str]:
        """Draws a problem. Raises DataError if the task has none."""
        self.score = None
        self.problem = next(iter(self.task.problems(self.split, rng)), None)
        if self.problem is None:
            raise DataError(f"{self.task.name} has no problem", "choose another task or split")
        return TimeStep(self.problem.prompt)

    def step(self, action: str) -> TimeStep[str]:
        assert self.problem is not None, "reset comes first"
        (self.score,) = self.task.score(self.problem, [action])
        return TimeStep(self.problem.prompt, self.score.total, 0.0, last=True)
