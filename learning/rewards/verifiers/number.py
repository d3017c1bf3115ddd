"""Compares numbers exactly, as people and models write them: signs, separators, units, currency,
fractions, percentages, powers of ten, multiples, words.

A text is stripped of markup (dress.py), every quantity in it is parsed once (quantity.py), and the rest
of the text decides which of them it asserts (asserted.py). In an answer field all asserted numbers must
be equal. In a text without a field those after `the answer is` must be equal; without that phrase the
last asserted number of the last sentence with a number counts. `25%` is 25 or 1/4 and `3 million` is 3 or
3,000,000, because a question may ask for either; `18k` is 18,000. Takes time linear in the text. Numbers
that are too long or too large are not read, and nothing is evaluated except whether the two sides of a
numeric equation are equal. Left out: decimal commas (`3,5` is two numbers), arithmetic.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from fractions import Fraction

from learning.rewards.verifiers.answer import ParsedAnswer
from learning.rewards.verifiers.asserted import DIGITS, WORDS, answering, denied, entangled, places
from learning.rewards.verifiers.dress import undressed
from learning.rewards.verifiers.quantity import Number, Taken, take_numbers

TAIL = 2_000
"""Characters at the end of a text that are searched for its last number."""
MOST = 50
"""Most numbers in a field; with more there is no answer."""
SHORT = 100
"""Longest beginning of a sum in words, in characters: `the sum of 8, 3 and` before `5 = 16`."""

_BOX = re.compile(r"\\f?boxed ?")
_CALCULATES = set("^*×÷√π±∞<>≤≥≠≈~\\¬=")
_EQUATION = re.compile(
    rf"(?:^|(?<=[\s=(]))({DIGITS}(?:[ \t]*[-+*/×÷·x][ \t]*{DIGITS})*)[ \t]*="
    rf"(?=[ \t]*({DIGITS})(?![ \t]*[-+*/×÷·^]))"
)
_SENTENCE_OR_SIDE = re.compile(r"[.!?,;:](?=\s)|[=\n]")
_OPERATES = re.compile(r"[-+*/×÷·^]|\b(?:x|times|plus|minus|of|by)\b", re.IGNORECASE)
_SUM = re.compile(rf"\b(?:sum|total) of ({DIGITS}(?:, ?{DIGITS})*),? and $", re.IGNORECASE)


def number_score(truth: str, answer: ParsedAnswer) -> float:
    """1 if the answer is the number `truth`, else 0. Never raises."""
    right = _truth(truth)
    said = answer.said
    if right is None or said is None:
        return 0.0
    found = read_number(said) if answer.fields else last_number(said)
    return float(found is not None and right.same(found))


@functools.lru_cache(256)
def _truth(text: str) -> Number | None:
    return read_number(text)


def read_number(text: str, *, bare: bool = False) -> Number | None:
    """The one number that a short text asserts; only the part after the last equals sign counts.
    None for no number, different numbers, a calculation, or a false equation. bare: nothing but white
    space, currency and a percent sign may accompany it (no unit, no variable)."""
    if len(text) > TAIL:
        return None
    inside = boxed_or_none(text)
    if inside is not None and box_is_denied(text, inside):
        return None
    read = take_numbers(text if inside is None else inside)
    if _is_false(read):
        return None
    skeleton = read.skeleton
    start = skeleton.rfind("=") + 1
    if start and (skeleton[:start].rstrip("= ")[-1:] in ("!", "/", "<", ">", "~")):
        return None
    around = skeleton.replace(DIGITS, " ").replace(WORDS, " ")
    if any(c in _CALCULATES for c in around[start:]) or any(c.isdigit() for c in around):
        return None
    if bare and (around[start:].strip(" .$") or WORDS in skeleton):
        return None
    found = places(skeleton, start)
    if not entangled(skeleton, read.same).isdisjoint(found):
        return None
    return _one(read, found, must_agree=True)


def last_number(text: str) -> Number | None:
    """The answer of a text without an answer field: the number after the last `####`, else in the last
    `\\boxed{}`, else after `the answer is`, else the last of its last sentence with a number."""
    tail = text[-TAIL:]
    if len(text) > TAIL:  # drop the first word, which may be a number without its first digits
        tail = tail[re.match(r"[^\s]*", tail).end() :]  # type: ignore[union-attr]
    marked = re.split(r"(?<!#)####(?!#)", tail)
    if len(marked) > 1:
        return read_number(marked[-1].strip().split("\n")[0])
    if boxed_or_none(tail) is not None:
        return read_number(tail)
    read = take_numbers(tail)
    found, must_agree = answering(read.skeleton)
    return _one(read, found, must_agree)


def boxed_or_none(text: str) -> str | None:
    """Content of the last `\\boxed{}` or `\\fbox{}`, up to the end of the text if it is not closed;
    without braces, as in some solutions of MATH, the next word. None: there is no box."""
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        return None
    inside = re.compile(r"\\[a-z]++ ?").sub("", text[start:], count=1)
    if not inside.startswith("{"):
        word: re.Match[str] = re.match(r"[^\s$]*", inside)  # type: ignore[assignment]
        return word[0].rstrip(".,;")
    depth = 0
    for i, letter in enumerate(inside):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return inside[1:i]
    return inside[1:]


def _one(read: Taken, found: list[int], must_agree: bool) -> Number | None:
    """The last number asserted at those indices. None if there is none, or must_agree and they differ."""
    skeleton = read.skeleton
    if not found or len(found) > MOST:
        return None
    parts = entangled(skeleton, read.same) | _false_sides(read) | _left_sides(read)
    first: Number | None = None
    for place in reversed(found):
        if place in parts or denied(skeleton, place):
            continue
        number = read.numbers[place]
        if number is None or (first is not None and number.values != first.values):
            return None
        first = number
        if not must_agree:
            break
    return first


def _false_sides(read: Taken) -> set[int]:
    """Indices of both sides of false equations such as `6 = 5`."""
    return {
        side
        for sides, right, value in _equations(read)
        if len(sides) == 1 and sides[0] not in read.left and not _equal(read, value, right)
        for side in (sides[0], right)
    }


def _left_sides(read: Taken) -> set[int]:
    """Indices of divisions whose result is given: `48/2 = 24`."""
    return {
        sides[0] for sides, _, _ in _equations(read) if len(sides) == 1 and sides[0] in read.left
    }


def _is_false(read: Taken) -> bool:
    """True if the text contains a false equation of numbers."""
    return any(
        value is not None and not _equal(read, value, right) for _, right, value in _equations(read)
    )


def _equations(read: Taken) -> list[tuple[list[int], int, Number | None]]:
    """Of each equation: indices of the numbers on its left, index of its right side, left value."""
    found = []
    for match in _EQUATION.finditer(read.skeleton):
        start = match.start()
        summed = _SUM.search(read.skeleton, max(0, start - SHORT), start)
        before = _SENTENCE_OR_SIDE.split(read.skeleton[:start])[-1]
        if summed is None and _OPERATES.search(before):
            continue  # the left side starts earlier, with words in it: Ann's 8 + Ben's 5 = 13
        sides = [i for i in range(match.start(1), match.end(1)) if read.skeleton[i] == DIGITS]
        value = _calculated(read, match, sides)
        if summed is not None:  # the sum of 8 and 5 = 13
            others = [i for i in range(*summed.span(1)) if read.skeleton[i] == DIGITS]
            value = _sum([*(read.numbers[i] for i in others), value])
        found.append((sides, match.start(2), value))
    return found


def _sum(terms: Sequence[Number | None]) -> Number | None:
    """None if one of the terms is not known."""
    known = [term.values[0] for term in terms if term is not None]
    return Number((sum(known, Fraction(0)),)) if len(known) == len(terms) else None


def _calculated(read: Taken, match: re.Match[str], sides: list[int]) -> Number | None:
    if len(sides) == 1 and sides[0] not in read.left:
        return read.numbers[sides[0]]
    terms: list[Fraction] = []
    operator = "+"
    for place, mark in zip(sides, [*_marks(match[1]), ""], strict=True):
        number = read.numbers[place]
        value = read.left.get(place, number.values[0] if number else None)
        if value is None:
            return None
        if operator in "+-":
            terms.append(value if operator == "+" else -value)
        elif operator in "/÷":
            if value == 0:
                return None
            terms[-1] /= value
        else:
            terms[-1] *= value
        operator = mark
    return Number((sum(terms, Fraction(0)),))


def _marks(side: str) -> list[str]:
    return re.findall(r"[-+*/×÷·x]", side)


def _equal(read: Taken, value: Number | None, right: int) -> bool:
    other = read.numbers[right]
    return value is None or other is None or value.same(other)


def box_is_denied(tail: str, inside: str) -> bool:
    """True if the sentence around the last box denies its content or offers it as one of several."""
    tail = tail[-TAIL:]
    start = max(tail.rfind("\\boxed"), tail.rfind("\\fbox"))
    behind = tail[start:].partition(inside)[2] if inside else ""
    before, after = (
        re.sub("[0-9]", DIGITS, undressed(part.replace(DIGITS, " ")))
        .replace("{", "")
        .replace("}", "")
        for part in (_BOX.sub("", tail[:start]), behind)
    )
    skeleton = before.replace("$", "") + DIGITS + after.replace("$", "")
    place = len(before.replace("$", ""))
    others = re.compile(rf"{DIGITS}[^.!?\n]{{0,20}}\bor\b[^.!?\n]{{0,20}}$").search(before)
    return denied(skeleton, place) or ("boxed" in tail[:start] and others is not None)
