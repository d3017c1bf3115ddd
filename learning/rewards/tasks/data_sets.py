"""Published data sets as tasks: GSM8K, SVAMP, MATH, TriviaQA, HumanEval, MBPP.

Rows are read in the format in which their authors publish them, on their sites or on the hub, or from
a given local file or folder. The text of a problem alone decides whether it is held out
(Problem.split), not the files' own splits. Left out: the data itself, and few-shot prompts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.errors import DataError
from learning.rewards.data_files import Row, hub_folder, read_rows
from learning.rewards.task import Problem, TaskOptions
from learning.rewards.verifiers.answer import in_format
from learning.rewards.verifiers.code import code_check, humaneval, mbpp
from learning.rewards.verifiers.expression import boxed, expression_check
from learning.rewards.verifiers.number import number_score, read_number
from learning.rewards.verifiers.string import names, string_score
from learning.rewards.verifiers.verified import (
    Check,
    Lent,
    VerifiedTask,
    configure,
    listed,
    one_by_one,
)

_STEP = re.compile(r"<<[^<>]*+>>")
_SECRET = "<unk>"
"""Stands for the withheld answer in the test split of TriviaQA."""


@dataclass(frozen=True)
class DataSettings:
    """Which problems are used."""

    max_chars: int = 0
    """Problems with a longer question are skipped, longer worked answers dropped; 0: no limit."""


@dataclass(frozen=True)
class DataSet:
    """One data set: where it is, how to turn a row into a problem and how to check an answer."""

    hub: str
    """Name on the Hugging Face hub."""
    files: Sequence[str]
    """Glob patterns of its files on the hub."""
    read: Callable[[Row, str], Problem | None]
    """Turns (row, its file and line) into a problem; None if the answer is withheld. Raises KeyError,
    TypeError, ValueError, DataError."""
    check: Callable[[Lent], Check]
    length: int
    """Longest answer, in characters, with a "length" component of 1."""


def data_set(name: str, options: TaskOptions) -> VerifiedTask:
    """The task. Raises ConfigError. `problems` raises DataError if there is no data."""
    return task_of(SETS[name], name, options)


def task_of(this: DataSet, name: str, options: TaskOptions) -> VerifiedTask:
    """The task of a data set, under that name. Raises as `data_set`."""
    settings = configure(DataSettings, options, name)
    sandbox = Lent(options.sandbox)

    @functools.cache
    def load() -> list[Problem]:
        place = options.data or hub_folder(this.hub, this.files)
        found = list(_problems(this, place, settings.max_chars))
        if not found:
            raise DataError(f"{place}: holds no problem of {name}", "give another file")
        return found

    return VerifiedTask(
        name,
        listed(load),
        this.check(sandbox),
        options.weights,
        options.length or this.length,
        needs_field=options.needs_field and this.check is not _by_running,
        on_close=sandbox.close,
    )


def _problems(this: DataSet, place: Any, most: int) -> Iterator[Problem]:
    for where, row in read_rows(place):
        try:
            problem = this.read(row, where)
            if problem is None:
                continue
            if not problem.prompt.strip():
                raise ValueError("there is no question")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = str(error)
            if isinstance(error, KeyError):
                what = f"has no {error}"
            elif isinstance(error, TypeError | AttributeError):
                what = "a value is of the wrong kind"
            raise DataError(
                f"{where}: is no row of this task ({what})", "give the file of that set"
            ) from error
        worked = problem.worked
        if 0 < most < len(problem.prompt):
            continue
        if worked and 0 < most < len(worked):
            problem = replace(problem, worked=None)
        yield problem


def _gsm8k(row: Row, source: str) -> Problem:
    way, mark, end = row["answer"].rpartition("####")
    truth = end.strip()
    if not mark or read_number(truth) is None:
        raise ValueError("the answer does not end in #### and a number")
    worked = in_format(_STEP.sub("", way).strip(), truth)
    return Problem(row["question"], truth, worked, source)


def _svamp(row: Row, source: str) -> Problem:
    body = row["Body"].strip()
    joined = f"{body}{'' if body.endswith(('.', '?', '!', ',')) else '.'} {row['Question'].strip()}"
    number = read_number(str(row["Answer"]))
    if number is None:
        raise ValueError(f"the answer {row['Answer']!r} is no number")
    truth = plain(number.values[0])
    equation = _unbracketed(re.sub(r"\.0\b", "", str(row.get("Equation", ""))))
    worked = in_format(f"{equation} = {truth}" if equation else "", truth)
    return Problem(joined, truth, worked, source)


def _math(row: Row, source: str) -> Problem:
    truth = row.get("answer") or boxed(row["solution"])
    if not truth:
        raise ValueError("the solution has no \\boxed{}")
    return Problem(row["problem"], truth, in_format(row.get("solution") or "", truth), source)


def _triviaqa(row: Row, source: str) -> Problem | None:
    lower = {key.lower(): value for key, value in row.items()}
    answer = {key.lower(): value for key, value in lower["answer"].items()}
    value = answer["value"]
    aliases = answer.get("aliases") or []
    if value == _SECRET and not aliases:
        return None
    truth = list(dict.fromkeys([value, *aliases]))
    if not names(truth):
        raise ValueError("no name of the answer has a word in it")
    return Problem(lower["question"], truth, in_format("", value), source)


def _unbracketed(equation: str) -> str:
    """Removes brackets that enclose the whole: from `( 3 + 2 )`, not from `( 3 + 2 ) * ( 1 + 1 )`."""
    text = equation.strip()
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1].strip() if letter == ")" and i == len(text) - 1 else text
    return text


def plain(value: Fraction) -> str:
    """The value as people write it: an integer, a finite decimal, or else a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    short = f"{float(value):.10f}".rstrip("0")
    return short if Fraction(short) == value else str(value)


def _in_process(judge: Callable[..., float]) -> Callable[[Lent], Check]:
    return lambda _: one_by_one(judge)


def _by_running(lent: Lent) -> Check:
    return code_check(lent.get)


SETS: dict[str, DataSet] = {
    "gsm8k": DataSet(
        "openai/gsm8k",
        ["main/*.parquet"],
        _gsm8k,
        _in_process(number_score),
        1_000,
    ),
    "svamp": DataSet(
        "ChilleD/SVAMP",
        ["*.json", "**/*.parquet"],
        _svamp,
        _in_process(number_score),
        300,
    ),
    "math": DataSet(
        "EleutherAI/hendrycks_math",
        ["**/*.parquet"],
        _math,
        expression_check,
        4_000,
    ),
    "triviaqa": DataSet(
        "mandarjoshi/trivia_qa",
        ["rc.nocontext/train*.parquet", "rc.nocontext/validation*.parquet"],
        _triviaqa,
        _in_process(string_score),
        300,
    ),
    "humaneval": DataSet(
        "openai/openai_humaneval",
        ["**/*.parquet"],
        humaneval,
        _by_running,
        4_000,
    ),
    "mbpp": DataSet(
        "google-research-datasets/mbpp",
        ["full/*.parquet"],
        mbpp,
        _by_running,
        4_000,
    ),
}
"""Task name -> data set."""
