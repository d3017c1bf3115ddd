"""Symbolic equality, by math-verify. Imported inside the sandbox only: it evaluates what it reads.

Its own time limits rest on a signal, and are off: the deadline is kept outside.
"""

from __future__ import annotations

from math_verify import LatexExtractionConfig, parse, verify


def same(truth: str, said: str) -> bool:
    """Whether two LaTeX expressions, without dollar signs, are equal."""
    right, mine = (_parse(text) for text in (truth, said))
    if not right or not mine:
        return False
    return bool(verify(right, mine, timeout_seconds=None))


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
):
    # once for all calls, which are made in copies of this process: what sympy loads late, and the
    # tables of the parser
    same(_truth, _said)
