"""Worked sums and differences that count: `8+5=9+4=10+3=11+2=12+1=13`.

A model of 10M weights learns a table of sums by heart and does not know the sums it has not seen. Counting is
the same small step each time, so a model that has learned the step can do sums that it has not seen
(benchmarks/results/practice_learning.md). Ones are counted first, then tens, then hundreds:
`47+12=48+11=49+10=59`. Every text between two equals signs has the same value.
"""

from __future__ import annotations


def most_characters(sums: int, digits: int, *, signed: bool) -> int:
    """Upper bound of the length of so many counted sums and differences, at most nine, of a chain of numbers.
    digits: of the longest number. signed: whether a number may be negative."""
    left, right = digits + 2, digits + signed
    """Characters of the numbers on both sides of the operator; a result gets a carry and a sign."""
    steps = 9 * digits
    return sums * ((steps + 1) * (left + right + 2) + 1)


def counted(left: int, operator: str, right: int) -> str:
    """The sum or difference, what it becomes step by step, and its value. operator: `+` or `-`. Raises
    ValueError for another operator."""
    if operator not in ("+", "-"):
        raise ValueError(f"{operator} is not counted")
    towards = -1 if right < 0 else 1
    """The sign of the right number, which is counted to 0."""
    way = towards if operator == "+" else -towards
    rest, texts = abs(right), [f"{left}{operator}{right}"]
    while rest:
        step = 1
        while rest % (10 * step) == 0:
            step *= 10
        left, rest = left + way * step, rest - step
        texts.append(f"{left}{operator}{towards * rest}" if rest else str(left))
    return "=".join(texts if right else [*texts, str(left)])
