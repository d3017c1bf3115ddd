"""Asking as a task of its own: after an invitation ("Ask me a sum.") a text is right if it is a question that
may be practised. Warm-up teaches it by examples, without their answers.

Left out: what a question is worth (learning.maths.learnability).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from engine.errors import DataError
from learning.rewards.asked import AskedTask
from learning.rewards.task import Problem, Score, Split
from learning.rewards.verifiers.verified import generated

TRIES = 100
"""Draws for each example."""


class AskingTask:
    """Implements Task. Its problems are all the invitation; only their worked answers differ."""

    def __init__(self, task: AskedTask, examples: int, rng: random.Random) -> None:
        """examples: how many different questions are shown, at most. rng: of which ones. Raises DataError if
        the task has no question to show."""
        self.task, self.name = task, f"questions for {task.name}"
        self._examples = _examples(task, examples, rng)
        if not self._examples:
            raise DataError(
                f"{task.name}: no question of it may be practised", "practise another task"
            )

    @property
    def invitation(self) -> Problem:
        """The message after which a question is asked."""
        return Problem(self.task.invitation, None, source=self.name)

    def describe(self) -> str:
        """See Task."""
        return f"questions that a program can answer: {self.task.describe()}"

    def problems(self, split: Split, rng: random.Random) -> Iterator[Problem]:
        """See Task; the examples again and again, in a new order each time. None is held out."""
        while split == "train":
            for one in rng.sample(self._examples, len(self._examples)):
                yield Problem(self.task.invitation, None, one.prompt, self.name, one.same)

    def score(self, problem: Problem, answers: Sequence[str]) -> list[Score]:
        """See Task."""
        valid = [float(self.task.accept(text) is not None) for text in answers]
        return [Score({"correct": one}, one) for one in valid]

    def close(self) -> None:
        """See Task; the task that is asked about is closed by who opened it."""


def _examples(task: AskedTask, count: int, rng: random.Random) -> list[Problem]:
    found: dict[str, Problem] = {}
    for problem in islice(generated(task.example)("train", rng), TRIES * count):
        if task.accept(problem.prompt) is not None:
            found.setdefault(problem.same, problem)
        if len(found) == count:
            break
    return list(found.values())
