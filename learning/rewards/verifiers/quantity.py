"""Parses each quantity in a text once, to its exact value, and replaces it with a placeholder.

`25%` is read as 25 and as 1/4, `3 million` as 3,000,000 and as 3, because a question may ask for either;
`18k` is only 18,000. Left out: decimal commas (`3,5` is two numbers), powers other than those of ten,
and what the text asserts of its quantities (asserted.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from learning.rewards.verifiers.asserted import DIGITS, WORDS
from learning.rewards.verifiers.dress import undressed
from learning.text.number_words import PARTS, SCALES, ends_in_words, find_words

LONGEST = 60
"""Most characters in a number; a longer one is not read."""
EXPONENT = 300
"""Largest absolute exponent of ten."""

_UNSIGNED = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])(?:\.[0-9]++)?"
    r"|[0-9]{1,2}(?:,[0-9]{2}){1,20},[0-9]{3}(?![0-9])(?:\.[0-9]++)?"  # Indian
    r"|[0-9]{1,3}(?:(?:\.[0-9]{3}){2,}(?:,[0-9]++)?|(?:\.[0-9]{3})++,[0-9]{1,2})(?![.,]?[0-9])"
    r"|[0-9]++(?:\.[0-9]++)?|(?<![0-9])\.[0-9]++)"
)
_EUROPEAN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})++(?:,[0-9]++)?")
_TEN = r"10\ ?(?:\^|\*\*)\ ?(?:\{{{0}\}}|\({0}\)|{0})".format("[-+]?[0-9]++")
_PARTS_OF_ONE = {
    (count, part): Fraction(many, below)
    for count, many in (("a", 1), ("an", 1), ("three", 3), ("two", 2))
    for part, below in PARTS.items()
}
_AND_PART = r"\ and\ (?:an?\ (?:half|third|quarter)|(?:three\ quarters|two\ thirds))\b"
_NUMBER = re.compile(
    rf"""(?P<sign>[-+]\ ?|\b(?:minus|negative)\s)?(?:(?:US|USD|C)?[$€£¥₹]\ ?)?(?P<sign2>[-+](?=[0-9.]))?
    (?:(?<![0-9.,])(?P<ten>{_TEN})(?![0-9^])
      |(?:(?P<whole>[0-9]++)\ (?=[0-9]++/[0-9]))?(?P<top>{_UNSIGNED})
       (?:\ ?/\ ?(?P<below>[0-9]++(?:\.[0-9]++)?)
         |[eE](?P<exp>[-+]?[0-9]++)(?![0-9A-Za-z])
         |\ ?(?:×|x|\*|·|⋅)\ ?(?P<pow>{_TEN})(?![0-9^])
         |(?P<half>{_AND_PART}))?
    )
    (?:\ ?(?P<percent>%|percent\b|per\ cent\b)
      |(?P<multiple>[kKMBT](?![\w&])|\ [kKMBT](?![\w&'’/-])|\ ?(?:bn|mn)\b)
      |[\ -]?(?P<scale>{"|".join(SCALES)})s?\b
      |\ (?P<part>{"|".join(p for p in PARTS if p.endswith("s"))})\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_MULTIPLES = {"k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "t": 12}
"""Suffix -> power of ten. A lower-case m, b or t after a number is a unit, not a multiple."""
_FRAC = re.compile(r"\\[dt]?frac\s{0,2}(?:\{(-?[0-9]{1,60})\}\{([0-9]{1,60})\}|([0-9])([0-9]))")
_THIN = re.compile("(?<=[0-9])[\u00a0\u202f\u2009'’_~](?=[0-9]{3}(?![0-9]))")
_LEADING_PLUS = re.compile(r"(?m)^[ \t]*\+ ?(?=[(0-9])")
"""The sign in "+(3)" or "+ 3" at the beginning of a line."""
_SPACED = re.compile(r"(?<![0-9.,/])[0-9]{1,3}(?: [0-9]{3})++(?![0-9,/])")
_SQUARE = re.compile(
    r"(?<=[0-9 ])((?:[ckm]?m|ft|in|yd|mi|units?|feet|foot|inch(?:es)?|yards?|miles?|met(?:er|re)s?) ?)"
    r"(?:\^ ?(?:[23]|\{[23]\})|[²³])(?![0-9])",
    re.IGNORECASE,
)
"""A unit of area or volume; its exponent does not belong to the number."""


@dataclass(frozen=True)
class Number:
    """A number with its exact value."""

    values: tuple[Fraction, ...]
    """Its readings: one; two for percentages, scale words and quarters."""
    decimals: int = 0
    """Digits after the decimal point."""

    def same(self, other: Number, *, exactly: bool = False) -> bool:
        """True if any readings are equal (only the first ones if both have two). Unless `exactly`, a
        fraction with an infinite decimal expansion may be rounded to two or more digits."""
        mine, others = self.values, other.values
        if len(mine) > 1 and len(others) > 1:  # 2500% is not 25%
            mine, others = mine[:1], others[:1]
        if exactly:
            return not set(mine).isdisjoint(others)
        return any(
            a == b or _rounded(a, self.decimals, b) or _rounded(b, other.decimals, a)
            for a in mine
            for b in others
        )


@dataclass(frozen=True)
class Taken:
    """A text and its quantities."""

    skeleton: str
    """The text with DIGITS or WORDS in place of each number."""
    numbers: dict[int, Number | None]
    """Index in the skeleton -> number; None: too long, or an unfinished division."""
    left: dict[int, Fraction]
    """Index in the skeleton -> value of an unfinished division, which may be a side of an equation."""

    def same(self, one: int, other: int) -> bool:
        """True if the numbers at two indices are equal."""
        a, b = self.numbers[one], self.numbers[other]
        return a is not None and b is not None and a.same(b, exactly=True)


def take_numbers(text: str) -> Taken:
    """Strips markup from a text and replaces its quantities with placeholders."""
    text = _LEADING_PLUS.sub("", text.replace(DIGITS, " ").replace(WORDS, " "))
    text = undressed(text)
    if "\\" in text:
        text = _FRAC.sub(lambda m: f" {m[1] or m[3]}/{m[2] or m[4]}", text)
    text = _SQUARE.sub(r"\1", _THIN.sub("", text))
    text = _SPACED.sub(lambda m: m[0].replace(" ", ""), text)
    skeleton, found = _take_digits(text)
    words = find_words(skeleton)
    for start, stop, _ in reversed(words):
        skeleton = skeleton[:start] + WORDS + skeleton[stop:]
    in_digits = iter(found)
    in_words = (Number((value,)) if value is not None else None for _, _, value in words)
    numbers: dict[int, Number | None] = {}
    left: dict[int, Fraction] = {}
    for place, letter in enumerate(skeleton):
        if letter == WORDS:
            numbers[place] = next(in_words)
        elif letter == DIGITS:
            numbers[place], undone = next(in_digits)
            if undone is not None:
                left[place] = undone
    return Taken(skeleton, numbers, left)


def _take_digits(text: str) -> tuple[str, list[tuple[Number | None, Fraction | None]]]:
    """The text with DIGITS for each number in digits, and the result of _parse for each."""
    pieces: list[str] = []
    found = []
    end = 0
    for match in _NUMBER.finditer(text):
        sign = match["sign"] or ""
        signed = bool(sign) and _is_sign(match, text)
        negative = signed and not sign.startswith("+")
        found.append(_parse(match, negative=negative, stray=_is_stray(match, text, signed)))
        pieces += [text[end : match.start()], "" if signed else sign, DIGITS]
        end = match.end()
    return "".join([*pieces, text[end:]]), found


def _parse(
    match: re.Match[str], *, negative: bool, stray: bool
) -> tuple[Number | None, Fraction | None]:
    """(number, None), or (None, value) for an unfinished division; (None, None) if unreadable."""
    if stray or len(match[0]) > LONGEST or (match["sign"] and match["sign2"]):
        return None, None
    negative = negative or match["sign2"] == "-"
    power = match["ten"] or match["pow"]
    exponent = int(re.sub(r"^10 ?(?:\^|\*\*)", "", power).strip(" {}()")) if power else 0
    exponent += int(match["exp"] or 0)
    if abs(exponent) > EXPONENT:
        return None, None
    decimals = 0
    if match["top"]:
        top = match["top"]
        if _EUROPEAN.fullmatch(top) and (top.count(".") > 1 or "," in top):
            top = top.replace(".", "").replace(",", ".")
        top = top.replace(",", "")
        value = Fraction(top if top[0] != "." else "0" + top)
        decimals = len(top.partition(".")[2])
    else:
        value = Fraction(1)
    if match["below"]:
        below = Fraction(match["below"])
        if below == 0:
            return None, None
        value /= below
        if value.denominator == 1:  # 48/2 is an unfinished calculation
            return None, -value if negative else value
    if match["whole"]:
        value += int(match["whole"])
    if match["half"]:
        value += _PARTS_OF_ONE[tuple(match["half"].lower().split()[-2:])]
    value *= Fraction(10) ** exponent
    if match["below"] or exponent or match["half"]:
        decimals = 0
    if negative:
        value = -value
    if match["percent"]:
        return Number((value, value / 100), decimals), None
    if match["scale"]:
        return Number((value * SCALES[match["scale"].lower()], value), decimals), None
    if match["part"]:
        part = match["part"].lower()
        share = value / PARTS[part]
        return Number((share, value) if part == "quarters" else (share,)), None
    multiple = (match["multiple"] or "").strip()
    if multiple and multiple not in ("m", "b", "t"):  # a metre, a bit, a ton
        return Number((value * 10 ** _MULTIPLES[multiple.lower()],)), None
    return Number((value,), decimals), None


def _is_sign(match: re.Match[str], text: str) -> bool:
    """True if the sign belongs to the number and is not a hyphen, range, sum or subtraction."""
    before = text[: match.start()]
    left = before.rstrip()
    if not left:
        return True
    if "\n" in before[len(left) :]:  # "- 5" is an item of a list there
        return match["sign"] in ("-", "+") or match["sign"][0].isalpha()
    if left[-1].isdigit() or left[-1] in ")]}%+-":
        return False
    if match["sign"][0].isalpha():
        return not ends_in_words(left)
    return not left[-1].isalnum() or (len(before) > len(left) and len(match["sign"]) == 1)


def _is_stray(match: re.Match[str], text: str, signed: bool) -> bool:
    """True if a sign before the number is neither its own nor an operator nor a hyphen in a word."""
    if signed or not match["sign"]:
        return False
    left = text[: match.start()].rstrip()
    return not (left[-1:].isdigit() or (left[-1:].isalpha() and left[-2:-1].isalpha()))


def _rounded(short: Fraction, decimals: int, full: Fraction) -> bool:
    """True if `full` has an infinite decimal expansion and `short` is it, rounded to `decimals` >= 2."""
    if decimals < 2:
        return False
    rest = full.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest > 1 and abs(short - full) <= Fraction(1, 2 * 10**decimals)
