"""Symbolic equality, by math-verify. Imported inside the sandbox only: it evaluates what it reads.

Its own time limits rest on a signal, and are off: the deadline is kept outside.
"""

from __future__ import annotations

import re
from typing import Any

from math_verify import LatexExtractionConfig, parse, verify
from sympy import Expr, N, Rational, Symbol

DIGITS = 100
"""To which numbers are compared before they are compared symbolically."""
_POINT = (41, 61, 73, 29, 83)
"""Over 97 and more: where roots, logarithms and inverse functions are real."""
_DECIMAL = re.compile(r"(?<![0-9^_])([0-9]*)\.([0-9]+)")


def same(truth: str, said: str) -> bool:
    """Whether two LaTeX expressions, without dollar signs, are equal, exactly. What raises on them is
    not; that the calculation itself works is tried when this is imported."""
    try:
        right, mine = (_parse(exact(text)) for text in (truth, said))
        if not right or not mine:
            return False
        if _differ(right[0], mine[0]):
            return False
        return bool(verify(right, mine, numeric_precision=DIGITS, timeout_seconds=None))
    except Exception:
        return False


def _differ(right: Any, mine: Any) -> bool:
    """Whether two formulas have clearly different values at one point: most wrong answers have, and
    calculating with symbols takes a hundred times as long. False where that cannot be told."""
    if any(not isinstance(one, Expr) or isinstance(one, Symbol) for one in (right, mine)):
        return False  # a symbol may be a word, and the other its letters multiplied
    try:
        difference = right - mine
        names = sorted(difference.free_symbols, key=str)
        point = {name: Rational(_POINT[i % len(_POINT)], 97 + i) for i, name in enumerate(names)}
        values = [N(one.subs(point), 20, chop=True) for one in (right, difference)]
        size, distance = (abs(value) for value in values)
        return bool(distance.is_finite and distance > (1 + size) * Rational(1, 10**6))
    except Exception:
        return False


def exact(text: str) -> str:
    """With its decimals as fractions, which calculation does not round."""
    return _DECIMAL.sub(lambda m: f"\\frac{{{int(m[1] + m[2])}}}{{{10 ** len(m[2])}}}", text)


def _parse(text: str) -> list[object]:
    return list(
        parse(
            f"${text}$",
            extraction_config=[LatexExtractionConfig()],
            parsing_timeout=None,
        )
    )


for _truth, _said in (
    ("\\frac{\\sqrt{2}}{2}", "\\frac{1}{\\sqrt{2}}"),
    ("x^2-1", "(x-1)(x+1)"),
    ("\\{1,2\\}", "(2, \\pi)"),
    ("[0,1)", "\\left(0, \\infty\\right)"),
    ("x+y=1", "y=1-x"),
    (
        "2^{n+1}",
        "\\sqrt[3]{\\frac{x}{\\sqrt{y}+|3|}}-\\frac{\\sin(2x)+\\cos x}{\\tan(y)-\\ln(2)}+\\pi",
    ),
    (
        "\\log_{2}{x}",
        "(e^{x+1}+3!)^{2}(\\log_{3}{9}-\\lfloor 2x\\rfloor)+\\frac{\\frac{1}{2}}{1+i}\\cdot 5",
    ),
):
    # once for all calls, which are made in copies of this process: what sympy loads late, and the
    # tables of the parser
    same(_truth, _said)

if not same("x^2-1", "(x-1)(x+1)") or same("x^2-1", "(x-1)(x+2)"):
    # else a library that raises on everything would make every answer wrong, without a word
    raise ImportError("math-verify does not tell equal expressions from others")
