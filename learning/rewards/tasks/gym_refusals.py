"""Refuses answers that reasoning-gym's scorers would wrongly reward, before a scorer sees them.

These answers were found by giving every scorer constants and formulas that hold for any numbers.
Only sums of integers are evaluated here. Left out: partial marks for a refused answer.
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
"""Without `Integral`: the derivative of the unevaluated integral is the integrand, so it would pass."""
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
    """True if the answer to an item of generator `name` is wrong whatever its scorer says.

    May raise if the answer does not have the right form.
    """
    truth = str(item["answer"])
    if truth.lower() in _CHOICES and answer.strip().lower() != truth.lower():
        return True  # one scorer accepts anything but the other choice
    if _is_not_finite(answer) and answer.strip() != truth:
        return True  # comparisons with NaN or infinity can pass a scorer's tolerance
    must = _MUST.get(name)
    return must is not None and not must(item, answer)


def _is_not_finite(text: str) -> bool:
    words = {word.lower() for word in re.findall("[A-Za-z]+", text)}
    words = {word[:-1] if word[:-1] in _NOT_FINITE else word for word in words}  # 3+nanj
    return bool(words & _NOT_FINITE) and words <= _NOT_FINITE | _IMAGINARY


def _is_formula(_: dict[str, Any], answer: str) -> bool:
    """Only numbers, operators, single letters and elementary functions; its scorer evaluates text."""
    if not _FORMULA.fullmatch(answer):
        return False
    return all(len(word) == 1 or word in _FUNCTIONS for word in _WORD.findall(answer))


def _makes(item: dict[str, Any], answer: str) -> bool:
    """Gives exactly the target, using each of the given numbers and no others."""
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
    """Right to 1e-4 and to 1 % of the truth; its scorer accepts any prefix of the truth."""
    truth, said = Fraction(item["answer"]), read_number(answer, bare=True)
    far = min(Fraction(1, 10_000), truth / 100)
    return said is not None and any(abs(value - truth) <= far for value in said.values)


def _is_sorted(item: dict[str, Any], answer: str) -> bool:
    """Exactly the sorted numbers; its scorer accepts each within 1."""
    said = json.loads(answer.replace("'", '"'), parse_float=Decimal)
    truth = item["metadata"]["sorted_numbers"]
    return isinstance(said, list) and [Decimal(one) for one in said] == [Decimal(n) for n in truth]


def _meets_a_negative(item: dict[str, Any], answer: str) -> bool:
    """A negative count must match exactly: its scorer divides the error by it and accepts any number."""
    return not item["answer"].startswith("-") or answer.strip() == item["answer"]


def _says_none(item: dict[str, Any], answer: str) -> bool:
    """If the equation has no solution, the empty quotes that the question asks for; its scorer
    accepts any words without a number."""
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
"""Generator -> condition that a right answer must meet."""
