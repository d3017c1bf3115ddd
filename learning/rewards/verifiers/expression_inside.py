"""Symbolic equality by math-verify. Imported inside the sandbox only, because it evaluates its input.

math-verify's own time limits use a signal and are switched off: the deadline is enforced outside.
"""

from __future__ import annotations

import re
from typing import Any

from math_verify import LatexExtractionConfig, parse, verify
from sympy import Expr, N, Rational, Symbol

DIGITS = 100
"""Digits to which numbers are compared, before symbolic comparison."""
_POINT = (41, 61, 73, 29, 83)
"""Numerators over 97, 98, ...: values in (0, 1), where roots, logarithms and inverse functions are
real."""
_DECIMAL = re.compile(r"(?<![0-9^_])([0-9]*)\.([0-9]+)")


def same(truth: str, said: str) -> bool:
    """True if two LaTeX expressions (without dollar signs) are exactly equal; False if the comparison
    raises. Importing this module tests that the comparison works at all."""
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
    """True if two formulas have clearly different values at one point. Most wrong answers do, and
    symbolic comparison takes a hundred times as long. False if that cannot be decided."""
    if any(not isinstance(one, Expr) or isinstance(one, Symbol) for one in (right, mine)):
        return False  # a symbol may be a word that the other side reads as a product of letters
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
    """Rewrites decimals as fractions, which are not rounded."""
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
    # warm-up before the forks that serve the calls: loads sympy's lazy modules and the parser tables
    same(_truth, _said)

if not same("x^2-1", "(x-1)(x+1)") or same("x^2-1", "(x-1)(x+2)"):
    # otherwise a library that raises on everything would silently make every answer wrong
    raise ImportError("math-verify does not tell equal expressions from others")
