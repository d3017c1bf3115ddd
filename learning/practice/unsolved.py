"""Problems that no sampled answer solves, learned from their worked answers.

A group whose answers are all wrong has no better one to prefer, so the policy gradient passes over just the
problems that cannot be done yet. Where a task wants it (Problem.taught), an update learns from the worked
answer as well, by likelihood, until some sampled answer is right (ReLIFT, 2506.07527). Left out: questions
that the model asks itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from engine.model import Model
from learning.objectives.processes import ALONE, ProcessGroup
from learning.objectives.supervised import likelihood_gradients
from learning.practice.figures import judged
from learning.practice.sampling.rollouts import Drawn, RolloutSampler
from learning.practice.settings import UnsolvedSettings
from learning.practice.tags import as_text, as_tokens
from learning.rewards.task import Problem


class UnsolvedProblems:
    """Those of the last steps, the newest last."""

    def __init__(
        self,
        settings: UnsolvedSettings,
        roller: RolloutSampler,
        rng: random.Random,
        *,
        pause: Callable[[], None] = lambda: None,
        team: ProcessGroup = ALONE,
    ) -> None:
        """roller: encodes the worked answers. rng: the same in all processes of the team."""
        self._settings, self._roller, self._rng = settings, roller, rng
        self._pause, self._team = pause, team
        self._problems: dict[str, Problem] = {}

    def __len__(self) -> int:
        return len(self._problems)

    def hear(self, drawn: Sequence[Drawn]) -> None:
        """Takes in the scored answers of a step. A problem is solved with one right answer; one whose answers
        could not be judged stays as it was."""
        if not self._settings.rows:
            return
        for group in (group for part in drawn for group in part.groups):
            known = judged(group)
            if not known or not known[0].problem.taught:
                continue
            problem = known[0].problem
            self._problems.pop(problem.same, None)
            if not any(sample.score.success for sample in known):
                self._problems[problem.same] = problem
        for oldest in list(self._problems)[: -self._settings.most]:
            del self._problems[oldest]

    def gradients(self, model: Model) -> float:
        """Adds the gradient of some of their worked answers to an update; returns its weighted loss in nats.
        With fewer problems than `rows` it weighs less in proportion."""
        settings = self._settings
        count = min(settings.rows, len(self._problems))
        if not count:
            return 0.0
        encode = as_tokens if self._roller.says_tags else as_text
        tokenizer = self._roller.tokenizer
        found = [
            self._roller.worked(model, problem, lambda text: encode(tokenizer, text))
            for problem in self._rng.sample(list(self._problems.values()), count)
        ]
        rows = [row for row in found if row is not None]
        weight = settings.weight * len(rows) / settings.rows
        loss = likelihood_gradients(model, rows, weight=weight, pause=self._pause, team=self._team)
        return weight * loss
