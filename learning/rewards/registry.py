"""The tasks by name. A task's module is imported when the task is asked for."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import cast

from engine.errors import ConfigError, NotFound
from learning.rewards.gym_names import GYM
from learning.rewards.task import Task, TaskOptions

Make = Callable[[str, TaskOptions], Task]


_PUBLISHED, _TOOL_WORDS = "data_sets:data_set", "tool_gsm8k:tool_gsm8k"
_READ = (_PUBLISHED, _TOOL_WORDS)
"""Those that read published problems."""
TASTE = "taste"
"""The task without a truth: the reward model of the owner's taste pays."""
ALONE = (TASTE,)
"""Tasks that are not practised in turns with others."""
SELF_PLAY = ("chain_sum", "basic_arithmetic")
"""Tasks about which the model can ask the questions itself: a program reads and answers them."""
OPTIONS = {
    TASTE: (
        *("advantages=batch", "kl_reward=0.05", "keep.talk_weight=6"),
        *("groups=12", "steps=40", "measure_every=5", "lr=1.5e-4", "ramp=5"),
    )
}
"""Task name -> options of practice that it has unless others are given. Rewards that are no yes or no are
never all the same, and dividing by a group's deviation would blow up a group that the reward model cannot
tell apart; without the divergence in the reward the policy walks away from where it is right. Every step
towards what is liked costs talk, so own talk weighs more, and the steps are those that were measured
(benchmarks/results/taste_picks.md)."""


_TASKS: dict[str, tuple[str, str]] = {
    "chain_sum": ("sums:chain_sum", "sums and differences: 4 + 3"),
    "basic_arithmetic": ("sums:basic_arithmetic", "all four operations with brackets"),
    "tool_sums": (
        "tool_sums:tool_sums",
        "sums and products too long for the head, with python as a tool",
    ),
    "syllogism": ("syllogism:syllogism", "whether a statement follows from two others"),
    "propositional_logic": ("propositions:propositional_logic", "what follows from if, or, not"),
    TASTE: ("taste:taste", "answers that you would pick, as your picks have taught vidya"),
    "umbrella_talk": (
        "umbrella_talk:umbrella_talk",
        "advice that is paid turns of small talk later",
    ),
    "detective": ("detective:detective", "find a thing by questions, then name it"),
    "tool_gsm8k": (_TOOL_WORDS, "sums in words, with python as a calculator"),
    "gsm8k": (_PUBLISHED, "sums in words, of primary school"),
    "svamp": (_PUBLISHED, "short sums in words, one operation"),
    "math": (_PUBLISHED, "competition mathematics, answers in LaTeX"),
    "triviaqa": (_PUBLISHED, "facts with one right answer"),
    "humaneval": (
        _PUBLISHED,
        "Python functions from their description, run against tests",
    ),
    "mbpp": (_PUBLISHED, "short Python programs, run against tests"),
} | {f"gym/{name}": ("gym:gym_task", line) for name, line in GYM.items()}
"""Task name -> ("module:function" in rewards/tasks that builds it, one-line description)."""


def tasks() -> dict[str, str]:
    """Task name -> one-line description."""
    return {name: line for name, (_, line) in _TASKS.items()}


def reads_data(name: str) -> bool:
    """Whether the task's problems are of a published data set."""
    return name in _TASKS and _TASKS[name][0] in _READ


def find_task(name: str, options: TaskOptions | None = None) -> Task:
    """The task called `name`. Raises NotFound, which suggests similar names; ConfigError if a setting
    is unknown, a package is missing, or data is given to a task that generates its problems."""
    if name not in _TASKS:
        lower = name.lower()
        near = difflib.get_close_matches(lower, list(_TASKS), 3, 0.6)
        near += [f"gym/{n}" for n in difflib.get_close_matches(lower, list(GYM), 2, 0.8)]
        hint = f"did you mean {' or '.join(dict.fromkeys(near))}? " if near else ""
        raise NotFound(f"task {name!r} does not exist", hint + "vidya practice --list names them")
    options = options or TaskOptions()
    where = _TASKS[name][0]
    if options.data is not None and where not in _READ:
        published = [one for one, (made_by, _) in _TASKS.items() if made_by in _READ]
        raise ConfigError(
            f"task {name} makes its own problems and takes no data",
            f"leave out --data, or practise one that takes it: {', '.join(published)}",
        )
    module, function = where.split(":")
    make = cast(
        Make, getattr(importlib.import_module(f"learning.rewards.tasks.{module}"), function)
    )
    return make(name, options)
