"""Orders of a fixed list of problems: functions of (problems, random numbers) -> the same problems.

Loads no torch. Where the list comes from is decided in learning.practice.supply.few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from engine.errors import ConfigError
from learning.rewards.task import Problem

Order = Callable[[Sequence[Problem], random.Random], list[Problem]]


def as_they_come(problems: Sequence[Problem], _: random.Random) -> list[Problem]:
    """As the task yields them."""
    return list(problems)


def shuffled(problems: Sequence[Problem], rng: random.Random) -> list[Problem]:
    """By chance."""
    return rng.sample(list(problems), len(problems))


def easy_to_hard(problems: Sequence[Problem], _: random.Random) -> list[Problem]:
    """Those with the shortest worked answers first (`length`)."""
    return sorted(problems, key=length)


def hard_to_easy(problems: Sequence[Problem], _: random.Random) -> list[Problem]:
    """Those with the longest worked answers first (`length`)."""
    return sorted(problems, key=length, reverse=True)


def blocks(problems: Sequence[Problem], _: random.Random) -> list[Problem]:
    """Those of one form together, forms in the order in which they first come. Raises ConfigError if the
    problems have no forms."""
    forms = list(dict.fromkeys(problem.form for problem in problems))
    if forms == [""]:
        raise ConfigError(
            "these problems have no forms to put together", "take another order than blocks"
        )
    return sorted(problems, key=lambda problem: forms.index(problem.form))


def length(problem: Problem) -> tuple[int, int]:
    """How hard a problem counts as: (words, characters) of its worked answer, which grow with the steps that
    it takes; of the question where there is none."""
    text = problem.worked or problem.prompt
    return len(text.split()), len(text)
