"""tool_sums: sums and products of numbers that are too long to do in one's head, with python as a tool.

The model has to copy the numbers into a program and what the program prints into its answer. Left out: sums
in words.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from engine.errors import ConfigError
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.sums import SumNode, join, problem
from learning.rewards.tools import CALLS, TOOL_WEIGHTS, ToolTask, with_calls
from learning.rewards.verifiers.answer import in_format
from learning.rewards.verifiers.number import number_score
from learning.rewards.verifiers.verified import (
    Lent,
    VerifiedTask,
    configure,
    generated,
    one_by_one,
)

DESCRIPTION = "You have python, as in print(1 + 2)."
"""The example is a trap that others fell into: a model that is paid for calls learns to copy it."""
SIGNS = ("+", "*")


@dataclass(frozen=True)
class ToolSumSettings:
    """Difficulty of tool_sums."""

    digits: int = 3
    """Of each number, 1 to 9."""
    operators: tuple[str, ...] = SIGNS
    calls: int = CALLS
    """Most calls of an answer, 0 to 5; with 0 there is no tool, and the worked answers use none."""
    again: float = 0.0
    """Share of the worked answers that check the first call by a second one, 0 to 1."""

    def __post_init__(self) -> None:
        if not 1 <= self.digits <= 9:
            raise ConfigError(f"digits is {self.digits}", "give 1 to 9")
        if not self.operators or not set(self.operators) <= set(SIGNS):
            raise ConfigError(f"operators is {','.join(self.operators)!r}", "choose among + *")
        if not 0 <= self.calls <= CALLS:
            raise ConfigError(f"calls is {self.calls}", f"give 0 to {CALLS}")
        if not 0.0 <= self.again <= 1.0:
            raise ConfigError(f"again is {self.again}", "give a share from 0 to 1")


def tool_sums(name: str, options: TaskOptions) -> ToolTask:
    """The task. Raises ConfigError."""
    settings = configure(ToolSumSettings, options, name)
    least, most = 10 ** (settings.digits - 1), 10**settings.digits - 1

    def draw(rng: random.Random) -> Problem:
        a, b = (SumNode(rng.randint(least, most)) for _ in range(2))
        node = join(rng.choice(settings.operators), a, b)
        plain, result = problem(node, name), str(node.value)
        if not settings.calls:
            return replace(plain, worked=in_format("", result))
        orders = [(a, b), (b, a)][: 1 + (rng.random() < settings.again)]
        programs = [f"print({one.value} {node.operator} {two.value})" for one, two in orders]
        worked = with_calls([("", program, result) for program in programs], result)
        return replace(plain, prompt=f"{DESCRIPTION} {plain.prompt}", worked=worked)

    weights = options.weights if options.weights.more else TOOL_WEIGHTS
    plain = VerifiedTask(
        name,
        generated(draw),
        one_by_one(number_score),
        length=options.length or 200,
        needs_field=True,
    )
    return ToolTask(plain, weights, settings.calls, Lent(options.sandbox))
