"""Mathematical expressions as in MATH: what stands in `\\boxed{}`, equal as text, as a number, or by
symbolic calculation.

Where the truth is a number only a number is an answer: `2+3` and `\\sqrt{25}`, which may be the question
itself, are calculations still to be done. The first two ways are gone here; symbolic calculation
evaluates what the model wrote, so it runs in the sandbox (expression_inside.py, with math-verify) and
ends at a deadline that we keep. Left out: proofs, answers in words.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence

from engine.errors import ConfigError
from learning.rewards.answer import Answer
from learning.rewards.data_files import INSTALL
from learning.rewards.number import boxed_or_none, read_number
from learning.rewards.sandbox import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verified import Check, Lent, Verdict, verdict_of

SECONDS = 10.0
"""For one comparison."""
LONGEST = 1_000
"""Characters; a longer expression is none."""
_SPACING = re.compile(r"\\[,;:! ]|\\q?quad\b|\\displaystyle\b|\\left\b|\\right\b|[\s$~]++")
_SMALL_FRACTION = re.compile(r"\\frac([0-9])([0-9])")
_NAMED = re.compile(r"^[A-Za-z](?:\([A-Za-z]\))? ?= ?(?=[^=]+$)")
_UNIT = re.compile(r"(?<=[0-9}])\\(?:text|mathrm|mbox|textbf)\{[^{}]*+\}(?:\^[0-9])?$")
_TO_DO = re.compile(
    r"\\(?:int|iint|oint|sum|prod|lim|binom|partial|det|gcd|max|min|bmod|pmod|log|ln|frac ?\{d\})(?![A-Za-z])"
)
"""What has still to be calculated, unless the truth has it too."""
_DEGREES = re.compile(r"\^\{?\\circ\}?")


def boxed(text: str) -> str | None:
    """What stands in the last `\\boxed{}`, None where there is none, or nothing in it."""
    return (boxed_or_none(text) or "").strip() or None


def said_expression(answer: Answer) -> str | None:
    """The expression that an answer gives: in its field, else in the last box, else its last line
    where that is short; a box in the field is opened."""
    said = answer.said
    if said is None:
        return None
    if "\\boxed" in said:
        return boxed(said)
    if answer.fields:
        return said
    line = said.splitlines()[-1].strip()
    return line if len(line) <= 100 else None


def tidy(expression: str) -> str:
    """With single spaces, and without dollar signs, sizes of brackets, degree signs, a full stop, or
    `x =` before it."""
    text = _SPACING.sub(" ", expression).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = _DEGREES.sub("", text).strip().rstrip(".").strip()
    return _NAMED.sub("", text)


def plain(expression: str) -> str:
    """To be compared as text: tidy, without any space, unit or percent sign. Not to be parsed."""
    text = tidy(expression).replace(" ", "")
    text = _SMALL_FRACTION.sub(r"\\frac{\1}{\2}", text).removesuffix("\\%")
    return _UNIT.sub("", text)


def compare(truth: str, said: str) -> float | None:
    """1 or 0 where looking at it is enough; None where it must be calculated."""
    mine, right = plain(said), plain(truth)
    if not mine or len(said) > LONGEST:
        return 0.0
    if mine == right:
        return 1.0
    number = read_number(right, bare=True)
    if number is not None:  # a calculation still to be done is no answer
        given = read_number(mine, bare=True)
        return float(given is not None and number.same(given))
    if set(_TO_DO.findall(tidy(said))) - set(_TO_DO.findall(tidy(truth))):
        return 0.0
    return None


def expression_check(lent: Lent) -> Check:
    """The check of a task of expressions."""

    def check(problem: Problem, read: Sequence[Answer], _: Sequence[str]) -> list[Verdict]:
        truth = str(problem.truth)
        expressions = [said_expression(answer) for answer in read]
        question = plain(problem.prompt)
        verdicts: list[Verdict | None] = [
            0.0 if said is None else compare(truth, said) for said in expressions
        ]
        for i, said in enumerate(expressions):
            if verdicts[i] is None and plain(str(said)) in question:
                verdicts[i] = 0.0  # the question, repeated
        asked = {str(said) for said, v in zip(expressions, verdicts, strict=True) if v is None}
        calculated = calculate(lent.get(), truth, sorted(asked)) if asked else {}
        return [
            calculated[str(said)] if verdict is None else verdict
            for said, verdict in zip(expressions, verdicts, strict=True)
        ]

    return check


def calculate(sandbox: Sandbox, truth: str, said: Sequence[str]) -> dict[str, Verdict]:
    """Whether each is equal to the truth, by symbolic calculation in the sandbox."""
    if importlib.util.find_spec("math_verify") is None:
        raise ConfigError("comparing expressions needs the package math-verify", INSTALL)
    target = "learning.rewards.expression_inside:same"
    outcomes = sandbox.map(
        [
            lambda box, one=one: box.call(target, [tidy(truth), tidy(one)], SECONDS)  # type: ignore[misc]
            for one in said
        ]
    )
    return {one: verdict_of(outcome) for one, outcome in zip(said, outcomes, strict=True)}
