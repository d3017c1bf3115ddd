"""Mathematical expressions as in MATH: what stands in `\\boxed{}`, equal as text, as a number, or by
symbolic calculation.

Where the truth is a number only a number is an answer: `2+3` and `\\sqrt{25}`, which may be the question
itself, are calculations still to be done. Another base, or another case of a letter, is another answer.
The first two ways are gone here; symbolic calculation evaluates what the model wrote, so it runs in the
sandbox (expression_inside.py, with math-verify) and ends at a deadline that we keep. Left out: proofs,
answers in words.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import replace

from engine.errors import ConfigError
from learning.rewards.answer import Answer
from learning.rewards.data_files import INSTALL
from learning.rewards.number import Number, boxed_or_none, read_number
from learning.rewards.number_words import SCALES, read_words
from learning.rewards.sandbox import Sandbox
from learning.rewards.task import Problem
from learning.rewards.verified import Check, Lent, Verdict, verdict_of

SECONDS = 10.0
"""For one comparison."""
LONGEST = 1_000
"""Characters; a longer expression is none."""
_SPACING = re.compile(
    r"(?<!\\)\\[,;:! ()$]|\\q?quad\b|\\displaystyle\b|\\left\b|\\right\b|[\s$~]++"
)
_SMALL_FRACTION = re.compile(r"\\frac ?([0-9]) ?([0-9])")
_SPACE = re.compile("(?<![0-9]) | (?![0-9])")
"""Not one between two digits: `1 2` is not 12, and `2 1/2` not 21/2."""
_NAMED = re.compile(r"^[A-Za-z](?:\([A-Za-z]\))? ?= ?(?=[^=]+$)")
_UNIT = re.compile(
    r"(?<=[0-9}]) ?\\(?:text|mathrm|mbox|textbf) ?\{([A-Za-z./ ]*+)\}(?: ?\^ ?(?:[0-9]|\{[0-9]\}))?$"
)
_UNIT_WORDS = 4
"""More of them are a sentence."""
_BASE = re.compile(r"(?<=[0-9])_(?:([0-9])|\{([0-9]+)\})")
_WORDS = re.compile(r"\\(?:text|mathrm|mbox|textbf)\{[^{}]*+\}|\\[A-Za-z]+|[A-Za-z]{3,}")
_FORMULA = re.compile(r"\$([^$]++)\$|\\\((.*?)\\\)|\\\[(.*?)\\\]", re.DOTALL)
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
    if boxed_or_none(said) is not None:
        return boxed(said)
    if answer.fields:
        return said
    line = said.splitlines()[-1].strip()
    return line if len(line) <= 100 else None


def tidy(expression: str) -> str:
    """With single spaces, and without dollar signs, `\\(`, sizes of brackets, degree signs, a full stop, or
    `x =` before it."""
    text = _SPACING.sub(" ", expression).replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = _DEGREES.sub("", text).strip().rstrip(".").strip()
    return _NAMED.sub("", text)


def plain(expression: str) -> str:
    """To be compared as text: tidy, without unit or percent sign, and without spaces but those
    between two digits. Not to be parsed."""
    return _compact(expression).removesuffix("\\%")


def compare(truth: str, said: str) -> float | None:
    """1 or 0 where looking at it is enough; None where it must be calculated."""
    mine, right = plain(said), plain(truth)
    if not mine or len(said) > LONGEST:
        return 0.0
    if mine == right:
        return 1.0
    number = _number(truth)
    if number is not None:  # a calculation still to be done is no answer
        given = _number(said)
        return float(given is not None and number.same(given))
    if set(_TO_DO.findall(tidy(said))) - set(_TO_DO.findall(tidy(truth))):
        return 0.0
    if mine.startswith("\\{") and right.startswith("("):
        return 0.0  # a set is no point; calculation takes one for the other
    base, other = _BASE.findall(mine), _BASE.findall(right)
    if base and other and set(base) != set(other):
        return 0.0
    if " " in mine and " " not in right:
        return 0.0  # 1 2 is no number
    letters, others = _letters(said), _letters(truth)
    if {letter.swapcase() for letter in letters - others} & others:
        return 0.0  # A is not a; calculation knows no difference
    return None


def asked(question: str) -> set[str]:
    """The question and each formula in it, plain."""
    formulas = ("".join(groups) for groups in _FORMULA.findall(question))
    return {plain(text) for text in (question, *formulas)}


def _compact(expression: str) -> str:
    text = tidy(expression)
    unit = _UNIT.search(text)
    if unit and len(unit[1].split()) <= _UNIT_WORDS and read_words(unit[1]) is None:
        text = text[: unit.start()]
    text = _BASE.sub(r"_{\1\2}", _SMALL_FRACTION.sub(r"\\frac{\1}{\2}", text))
    return _SPACE.sub("", text)


def _number(expression: str) -> Number | None:
    """With nothing beside it; `3 million` in full."""
    number = read_number(_compact(expression), bare=True)
    if number is not None and any(word in expression.lower() for word in SCALES):
        return replace(number, values=number.values[:1])
    return number


def _letters(expression: str) -> set[str]:
    """Those that stand for something by themselves, in no word or command."""
    text = _WORDS.sub(" ", tidy(expression))
    return {letter for letter in text if letter.isascii() and letter.isalpha()}


def expression_check(lent: Lent) -> Check:
    """The check of a task of expressions."""

    def check(problem: Problem, read: Sequence[Answer], _: Sequence[str]) -> list[Verdict]:
        truth = str(problem.truth)
        expressions = [said_expression(answer) for answer in read]
        question = asked(problem.prompt)
        verdicts: list[Verdict | None] = [
            0.0 if said is None else compare(truth, said) for said in expressions
        ]
        for i, said in enumerate(expressions):
            if verdicts[i] is None and plain(str(said)) in question:
                verdicts[i] = 0.0  # the question, repeated
        left = {str(said) for said, v in zip(expressions, verdicts, strict=True) if v is None}
        calculated = calculate(lent.get(), truth, sorted(left)) if left else {}
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
