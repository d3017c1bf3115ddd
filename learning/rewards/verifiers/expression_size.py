"""Rejects expressions that are too large to be an answer, from their text, before any calculation.

Towers of powers, factorials and deep nesting take for ever to evaluate, and no truth needs them; what
the truth contains is allowed. Left out: the cost of expressions of ordinary size, which the deadline in
expression.py bounds.
"""

from __future__ import annotations

import re

LENGTH = 120
"""Most characters; or four times those of the truth, if more."""
DIGITS = 60
"""Most digits in all numbers together; or three times those of the truth, if more. No fraction with so
few digits agrees with a root to the 100 digits of expression_inside.py."""
POWER = 100
"""Largest number in an exponent; or the truth's, if larger."""
GROUPS = 1_000
"""Largest product of the exponents of brackets; or the truth's, if larger."""
DEPTH = 6
"""Deepest nesting of brackets; or three more than the truth's, if deeper."""
FACTORIAL = 20
"""Largest number with a factorial; or the truth's, if larger."""
_EXPONENT = re.compile(r"(?:\^|\*\*) ?")
_NUMBER = re.compile(r"[0-9]+")
_FACTORIAL = re.compile(r"([0-9]*)[ )}\]]*!")


def too_large(truth: str, said: str) -> bool:
    """True if `said` is larger than any answer equal to `truth` needs to be. Linear in the texts."""
    if len(said) > max(LENGTH, 4 * len(truth)):
        return True
    digits = [sum(map(str.isdigit, text)) for text in (truth, said)]
    if digits[1] > max(DIGITS, 3 * digits[0]) or _depth(said) > max(DEPTH, _depth(truth) + 3):
        return True
    tower, power, groups = _powers(said)
    its_tower, its_power, its_groups = _powers(truth)
    return (
        tower > its_tower
        or power > max(POWER, its_power)
        or groups > max(GROUPS, its_groups)
        or _too_many_factorials(truth, said)
    )


def _depth(text: str) -> int:
    depth = most = 0
    for letter in text:
        depth += (letter in "({[") - (letter in ")}]")
        most = max(most, depth)
    return most


def _powers(text: str) -> tuple[bool, int, int]:
    """(tower, power, groups): whether an exponent or a base contains a power or factorial of numbers;
    the largest number in an exponent; the product of the exponents of brackets."""
    tower, largest, groups = False, 0, 1
    for match in _EXPONENT.finditer(text):
        exponent = _argument(text, match.end())
        number = max(map(int, _NUMBER.findall(exponent)), default=0)
        inside = re.search(r"[0-9)}] ?(?:\^|\*\*|!)", exponent) is not None
        base = text[: match.start()].rstrip()
        if base[-1:] in (")", "}"):
            groups *= max(1, number)
            below = _before(base)
            inside |= re.fullmatch(r"[({ ]*[0-9]+ ?(?:\^|\*\*).*", below, re.DOTALL) is not None
        tower |= inside
        largest = max(largest, number)
    return tower, largest, groups


def _argument(text: str, start: int) -> str:
    """The exponent that starts there: a group, or a signed number or letter with further powers."""
    if text[start : start + 1] not in ("{", "("):
        found = re.compile(r"[-+]?(?:[0-9]+|[A-Za-z])?(?: ?(?:\^|\*\*|!) ?[0-9]*)*").match(
            text, start
        )
        return found[0] if found else ""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "({") - (text[i] in ")}")
        if depth == 0:
            return text[start + 1 : i]
    return text[start + 1 :]


def _before(text: str) -> str:
    """The bracketed group at the end of the text."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] in ")}") - (text[i] in "({")
        if depth == 0:
            return text[i:]
    return text


def _too_many_factorials(truth: str, said: str) -> bool:
    mine, its = (_FACTORIAL.findall(text) for text in (said, truth))
    if re.search(r"! ?[)}\]]* ?!", said) and not re.search(r"! ?[)}\]]* ?!", truth):
        return True
    most = max([FACTORIAL, *(int(n) for n in its if n)])
    return len(mine) > len(its) + 2 or any(n and int(n) > most for n in mine)
