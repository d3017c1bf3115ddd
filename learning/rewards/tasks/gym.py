"""The text tasks of reasoning-gym as tasks: `gym/sudoku`, `gym/maze` and a hundred others.

Its generators execute code, and several of its scorers call `eval`, or a parser that evaluates, on
model text. So all of it runs in the sandbox (gym_inside.py), and this process never imports it. An
answer is right if its scorer gives 1; the score itself is recorded as "partial". Worked answers have
no reasoning, because the generators write none.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import ConfigError
from learning.rewards.data_files import INSTALL
from learning.rewards.task import Problem, Split, TaskOptions
from learning.rewards.verifiers.answer import ParsedAnswer, in_format
from learning.rewards.verifiers.verified import (
    Check,
    Lent,
    ScoringFailed,
    Verdict,
    VerifiedTask,
    generated,
    too_much,
)

MAKE_SECONDS = 120.0
"""Deadline for generating AT_ONCE problems; sokoban takes 5 s for one on a busy machine."""
SCORE_SECONDS = 10.0
"""Deadline for scoring one answer."""
AT_ONCE = 20
"""Problems generated per call."""
LONGEST = 20_000
"""Characters. A longer answer is wrong; no scorer sees it."""
_INSIDE = "learning.rewards.tasks.gym_inside"


def gym_task(name: str, options: TaskOptions) -> VerifiedTask:
    """The task `gym/NAME`. Raises ConfigError if reasoning-gym is missing."""
    if importlib.util.find_spec("reasoning_gym") is None:
        raise ConfigError(f"task {name} needs the package reasoning-gym", INSTALL)
    lent = Lent(options.sandbox)
    gym_name = name.removeprefix("gym/")
    settings = dict(options.difficulty)

    def supply(split: Split, rng: random.Random) -> Iterator[Problem]:
        made = _made(lent, gym_name, settings, rng)
        return generated(lambda _: next(made))(split, rng)

    return VerifiedTask(
        name,
        supply,
        _check(lent, gym_name, settings),
        options.weights,
        options.length or 2_000,
        needs_field=options.needs_field,
        on_close=lent.close,
    )


def _made(lent: Lent, name: str, settings: dict[str, Any], rng: random.Random) -> Iterator[Problem]:
    """Yields problems without end. Raises ConfigError for settings that the generator refuses."""
    while True:
        seed = rng.randrange(1 << 31)
        outcome = lent.get().call(f"{_INSIDE}:make", [name, settings, seed, AT_ONCE], MAKE_SECONDS)
        if outcome.failure or not outcome.value:
            raise ConfigError(
                f"gym/{name}: no problem could be made ({outcome.detail or outcome.failure})",
                "change or leave out its settings",
            )
        for item in outcome.value:
            answer = item["answer"]
            worked = None if answer in (None, "") else in_format("", str(answer))
            yield Problem(item["question"], item, worked, f"reasoning-gym, seed {seed}")


def _check(lent: Lent, name: str, settings: dict[str, Any]) -> Check:
    def check(problem: Problem, read: Sequence[ParsedAnswer], _: Sequence[str]) -> list[Verdict]:
        said = [answer.said for answer in read]
        asked = sorted({one for one in said if one and len(one) <= LONGEST})
        outcomes = lent.get().map(
            [
                lambda box, one=one: box.call(  # type: ignore[misc]
                    f"{_INSIDE}:score", [name, settings, problem.truth, one], SCORE_SECONDS
                )
                for one in asked
            ]
        )
        found: dict[str | None, Verdict] = {}
        for one, outcome in zip(asked, outcomes, strict=True):
            if too_much(outcome, SCORE_SECONDS):
                found[one] = {"correct": 0.0, "partial": 0.0}
            elif outcome.failure:
                found[one] = ScoringFailed(f"{outcome.failure}: {outcome.detail}")
            else:
                partial = min(1.0, max(0.0, float(outcome.value)))
                found[one] = {"correct": float(partial >= 1.0), "partial": partial}
        return [found.get(one, {"correct": 0.0, "partial": 0.0}) for one in said]

    return check
