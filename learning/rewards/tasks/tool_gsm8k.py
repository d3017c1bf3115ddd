"""tool_gsm8k: GSM8K with python as a calculator.

The data set marks each calculation of a worked answer, `48/2 = <<48/2=24>>24 clips`. Such a mark becomes a
call of the tool, with what python really prints as its result; the words before it become a thought.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.errors import ConfigError
from learning.rewards.data_files import Row
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.tasks.data_sets import SETS, DataSettings, task_of
from learning.rewards.tasks.tool_sums import DESCRIPTION
from learning.rewards.tools import CALLS, TOOL_WEIGHTS, ToolTask, with_calls
from learning.rewards.verifiers.verified import Lent, configure

PLAIN = "gsm8k"
_MARK = re.compile(r"<<([^<>=]*)=[^<>]*>>[\d.,]*")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class ToolWordSettings(DataSettings):
    """Which problems are used, and how often the tool may be called."""

    calls: int = CALLS
    """Most calls of an answer, 1 to 5."""

    def __post_init__(self) -> None:
        if not 1 <= self.calls <= CALLS:
            raise ConfigError(f"calls is {self.calls}", f"give 1 to {CALLS}")


def tool_gsm8k(name: str, options: TaskOptions) -> ToolTask:
    """The task. Raises ConfigError. `problems` raises DataError if there is no data."""
    settings = configure(ToolWordSettings, options, name)

    def read(row: Row, source: str) -> Problem | None:
        problem = SETS[PLAIN].read(row, source)
        if problem is None:
            return None
        worked = worked_with_calls(
            row["answer"].rpartition("####")[0], str(problem.truth), settings.calls
        )
        return replace(problem, prompt=f"{DESCRIPTION} {problem.prompt}", worked=worked)

    given = replace(options, difficulty={"max_chars": settings.max_chars}, needs_field=True)
    plain = task_of(replace(SETS[PLAIN], read=read), name, given)
    weights = options.weights if options.weights.more else TOOL_WEIGHTS
    return ToolTask(plain, weights, settings.calls, Lent(options.sandbox))


def worked_with_calls(way: str, truth: str, most: int) -> str:
    """A worked answer with a call for each of the first `most` marked calculations that python can do. What
    else is marked stays as words; words behind the last call are left out unless they calculate. way: the
    worked answer of the data set without its last line."""
    pieces, start, words, left = list[tuple[str, str, str]](), 0, "", False
    for mark in _MARK.finditer(way):
        words += way[start : mark.start()]
        start = mark.end()
        formula = mark[1].replace(",", "").strip()
        result = calculated(formula) if len(pieces) < most else None
        left = result is None
        if result is None:
            words += way[mark.start() : mark.end()].partition(">>")[2]
            continue
        pieces.append((" ".join(words.split()), f"print({formula})", result))
        words = ""
    last = " ".join((words + way[start:]).split()) if left else ""
    return with_calls(pieces, truth, last)


def calculated(formula: str) -> str | None:
    """What python prints for a formula of numbers, + - * / and brackets; None for anything else."""
    try:
        return str(_value(ast.parse(formula, mode="eval").body))
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError(ast.dump(node))
