"""What reasoning-gym's scorers pay for and should not: answers that are refused before they see them.

Found by giving every scorer constants, and formulas that hold for any numbers. Nothing is evaluated
here but sums of whole numbers. Left out: how nearly right a refused answer is.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from learning.rewards.verifiers.number import read_number

_CHOICES = ("true", "false", "yes", "no")
_FORMULA = re.compile(r"(?:[0-9A-Za-z+\-*/^() \n]|\.(?![ \n]*[A-Za-z_(]))*")
_WORD = re.compile(r"[A-Za-z][0-9A-Za-z]*")
_FUNCTIONS = (
    {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "ln"}
    | {"sqrt", "sec", "csc", "cot", "pi", "Abs"}
)  # fmt: skip
"""Not `Integral`, of which the derivative is what was to be integrated."""
_NOT_FINITE = {"nan", "inf", "infinity"}
_IMAGINARY = {"i", "j"}
_SUM = re.compile(r"[0-9+\-*/() ]+")
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def refused(name: str, item: dict[str, Any], answer: str) -> bool:
    """Whether the answer to an item of the generator `name` is wrong whatever its scorer says.

    May raise where the answer has not even the right form.
    """
    truth = str(item["answer"])
    if truth.lower() in _CHOICES and answer.strip().lower() != truth.lower():
        return True  # one of its scorers takes whatever is not the other choice
    if _is_not_finite(answer) and answer.strip() != truth:
        return True  # no distance from it is large
    must = _MUST.get(name)
    return must is not None and not must(item, answer)


def _is_not_finite(text: str) -> bool:
    words = {word.lower() for word in re.findall("[A-Za-z]+", text)}
    words = {word[:-1] if word[:-1] in _NOT_FINITE else word for word in words}  # 3+nanj
    return bool(words & _NOT_FINITE) and words <= _NOT_FINITE | _IMAGINARY


def _is_formula(_: dict[str, Any], answer: str) -> bool:
    """Nothing but numbers, operators, single letters and functions of school; its scorer evaluates."""
    if not _FORMULA.fullmatch(answer):
        return False
    return all(len(word) == 1 or word in _FUNCTIONS for word in _WORD.findall(answer))


def _makes(item: dict[str, Any], answer: str) -> bool:
    """The target, exactly, out of all the numbers and of no others."""
    data = item["metadata"]
    used = sorted(map(int, re.findall("[0-9]+", answer)))
    if not _SUM.fullmatch(answer) or used != sorted(data["numbers"]):
        return False
    return _value(ast.parse(answer.strip(), mode="eval").body) == data.get("target", 24)


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant):
        return Fraction(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))  # type: ignore[no-any-return]
    raise ValueError("no sum")


def _is_probability(item: dict[str, Any], answer: str) -> bool:
    """Right to four decimals, and to a hundredth where it is small; its scorer takes any prefix."""
    truth, said = Fraction(item["answer"]), read_number(answer, bare=True)
    far = min(Fraction(1, 10_000), truth / 100)
    return said is not None and any(abs(value - truth) <= far for value in said.values)


def _is_sorted(item: dict[str, Any], answer: str) -> bool:
    """The numbers themselves; its scorer takes those within one of each."""
    said = json.loads(answer.replace("'", '"'), parse_float=Decimal)
    truth = item["metadata"]["sorted_numbers"]
    return isinstance(said, list) and [Decimal(one) for one in said] == [Decimal(n) for n in truth]


def _meets_a_negative(item: dict[str, Any], answer: str) -> bool:
    """A negative count exactly; its scorer divides the error by it and takes any number."""
    return not item["answer"].startswith("-") or answer.strip() == item["answer"]


def _says_none(item: dict[str, Any], answer: str) -> bool:
    """Where nothing solves the equation, the empty quotes that the question asks for; its scorer
    takes any words without a number."""
    return bool(item["answer"]) or answer.strip() in ('""', "''")


_MUST: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "calendar_arithmetic": _meets_a_negative,
    "coin_flip": _is_probability,
    "countdown": _makes,
    "intermediate_integration": _is_formula,
    "number_sorting": _is_sorted,
    "polynomial_equations": _says_none,
    "polynomial_multiplication": _is_formula,
    "puzzle24": _makes,
    "simple_integration": _is_formula,
}
"""What must hold for an answer to be right, by generator."""
