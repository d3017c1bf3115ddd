"""Numbers as people and models write them, compared exactly: signs, separators, units, currency,
fractions, percentages, powers of ten, words.

In an answer field there must be one number; in a text without field the last one counts. `25%` is
25 or 1/4 and `3 million` is 3 or 3,000,000, since a question may ask for either. Reading takes time
linear in the text, numbers that are too long or too large are none, and nothing is evaluated. Left
out: decimal commas (`3,5` is two numbers), arithmetic.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from learning.rewards.answer import Answer
from learning.rewards.number_words import NUMBER, SCALES, calculates, goes_on, read_words

DIGITS = 60
"""A number of more characters is none."""
EXPONENT = 300
"""The largest power of ten, up or down."""
TAIL = 2_000
"""Characters from the end of a text in which its last number is looked for."""

_UNSIGNED = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])(?:\.[0-9]++)?|[0-9]++(?:\.[0-9]++)?|(?<![0-9])\.[0-9]++)"
_NUMBER = re.compile(
    rf"""(?P<sign>[-+]\ ?)?(?:[$€£¥₹]\ ?)?(?P<sign2>[-+](?=[0-9.]))?
    (?:(?P<whole>[0-9]++)\ (?=[0-9]++/[0-9]))?(?P<top>{_UNSIGNED})
    (?:\ ?/\ ?(?P<below>[0-9]++(?:\.[0-9]++)?)
      |[eE](?P<exp>[-+]?[0-9]++)(?![0-9A-Za-z])
      |\ ?(?:×|x|\*|·|⋅|\\times|\\cdot)\ ?10\ ?\^\ ?\{{?(?P<pow>[-+]?[0-9]++)\}}?)?
    (?:\ ?(?P<percent>%|percent\b|per\ cent\b)|[\ -]?(?P<scale>{"|".join(SCALES)})s?\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_FRAC = re.compile(r"\\[dt]?frac\s{0,2}(?:\{(-?[0-9]{1,60})\}\{([0-9]{1,60})\}|([0-9])([0-9]))")
_TEXT = re.compile(r"\\(?:text|mathrm|mbox|textbf)\s{0,2}\{([^{}]*+)\}")
_THIN = re.compile("(?<=[0-9])[\u00a0\u202f\u2009'’_](?=[0-9]{3}(?![0-9]))")
_SPACED = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})++(?![0-9,/])")
_VULGAR = re.compile(" ?[¼-¾⅐-⅞]")
_POWER = re.compile("(?<=10)[⁺⁻]?[⁰¹²³⁴-⁹]++")
_SQUARE = re.compile(
    r"(?<=[0-9 ])((?:[ckm]?m|ft|in|yd|mi|units?|feet|foot|inch(?:es)?|yards?|miles?|met(?:er|re)s?) ?)"
    r"(?:\^ ?(?:[23]|\{[23]\})|[²³])(?![0-9])",
    re.IGNORECASE,
)
"""A unit of area or volume; its power is none of the number."""
_PLAIN = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u207b\u208b\ufe58\ufe63\uff0d", "-")
    | {"＋": "+", "٬": ",", "，": ",", "٫": ".", "％": "%", "＄": "$"}
)
"""Every kind of hyphen, dash and minus sign, and what else is written in other scripts."""
_MINUS = re.compile(r"\b(?:minus|negative)\s(?=[$€£¥₹]?\s?[0-9.])", re.IGNORECASE)
_LATEX = (("\\,", ""), ("\\!", ""), ("\\;", ""), ("{,}", ","), ("\\%", "%"), ("\\$", "$")) + tuple(
    (f"\\{mark}", " ") for mark in "()[] "
)
_CALCULATES = set("^*×÷√π±∞<>≤≥≠≈~\\")


@dataclass(frozen=True)
class Number:
    """What was written, exactly."""

    values: tuple[Fraction, ...]
    """Its readings: one; for percentages and scale words two."""
    decimals: int = 0
    """Digits after the point."""

    def same(self, other: Number) -> bool:
        """Whether one reading of each is equal, or the first where both have two; a fraction that
        has no end in decimals may be rounded to two digits or more."""
        mine, others = self.values, other.values
        if len(mine) > 1 and len(others) > 1:  # 2500% is not 25%
            mine, others = mine[:1], others[:1]
        return any(
            a == b or _rounded(a, self.decimals, b) or _rounded(b, other.decimals, a)
            for a in mine
            for b in others
        )


def number_score(truth: str, answer: Answer) -> float:
    """1 where the answer is the number `truth`, else 0. Never raises."""
    right = read_number(truth)
    said = answer.said
    if right is None or said is None:
        return 0.0
    found = read_number(said) if answer.fields else last_number(said)
    return float(found is not None and right.same(found))


def read_number(text: str, *, bare: bool = False) -> Number | None:
    """The one number that a short text names; after an equals sign what follows the last of them.
    None for no number, different numbers, or a calculation. `bare`: nothing may stand beside it but
    white space, currency and a percent sign (no unit, no variable)."""
    if len(text) > TAIL:
        return None
    text = _opened(text)
    text = _SQUARE.sub(r"\1", _clean(text.rpartition("=")[2]))
    text = _SPACED.sub(lambda m: m[0].replace(" ", ""), text)
    if calculates(_NUMBER.sub(NUMBER, text)):
        return None
    text = _MINUS.sub("-", text)
    matches = list(_NUMBER.finditer(text))
    around = _NUMBER.sub(" ", text)
    if any(c in _CALCULATES or c.isdigit() for c in around):
        return None
    if bare and around.strip(" .$"):
        return None
    if not matches:
        value = None if bare else read_words(text)
        return Number((value,)) if value is not None else None
    if any(match["sign"] and not _is_sign(match, text) for match in matches):
        return None
    numbers = [_parse(match, text) for match in matches]
    first = numbers[0]
    if first is None or any(n is None or n.values != first.values for n in numbers):
        return None
    return first


def last_number(text: str) -> Number | None:
    """The last number of a text: of what follows the last `####`, in the last `\\boxed{}`, or at its
    end."""
    tail = text[-TAIL:]
    if len(text) > TAIL:  # a number that begins before the tail must not lose its front
        tail = tail[re.match(r"[^\s]*", tail).end() :]  # type: ignore[union-attr]
    marked = tail.rpartition("####")
    if marked[1]:
        return read_number(marked[2].strip().split("\n")[0])
    if (inside := boxed_or_none(tail)) is not None:
        return read_number(inside)
    tail = _MINUS.sub("-", _SQUARE.sub(r"\1", _clean(tail)))
    last = None
    for match in _NUMBER.finditer(tail):
        last = match
    if last is None:
        value = read_words(tail)
        return Number((value,)) if value is not None else None
    if goes_on(tail[last.end() :]):
        return None
    return _parse(last, tail)


def boxed_or_none(text: str) -> str | None:
    """What stands in the last `\\boxed{}` or `\\fbox{}` (to the end of the text where that is not
    closed); without braces, as in some solutions of MATH, the word after it."""
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


def _opened(text: str) -> str:
    inside = boxed_or_none(text)
    return text if inside is None else inside


def _clean(text: str) -> str:
    """ASCII digits and signs, LaTeX's spaces and wrappers gone."""
    if not text.isascii():
        text = _POWER.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
        text = text.translate(_PLAIN)
        text = _VULGAR.sub(
            lambda m: " " + unicodedata.normalize("NFKC", m[0].strip()).replace("⁄", "/"), text
        )
        # only decimal digits of a script: a superscript is no digit of a number
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    if "\\" in text or "{" in text:
        for old, new in _LATEX:
            text = text.replace(old, new)
        text = _TEXT.sub(r" \1 ", text)
        text = _FRAC.sub(lambda m: f" {m[1] or m[3]}/{m[2] or m[4]}", text)
    return _THIN.sub("", text)


def _parse(match: re.Match[str], text: str) -> Number | None:
    if len(match[0]) > DIGITS or (match["sign"] and match["sign2"]):
        return None
    top = match["top"].replace(",", "")
    value = Fraction(top if top[0] != "." else "0" + top)
    if match["below"]:
        below = Fraction(match["below"])
        if below == 0:
            return None
        value /= below
        if value.denominator == 1:
            return None  # 48/2 is a calculation still to be done
    if match["whole"]:
        value += int(match["whole"])
    power = match["exp"] or match["pow"]
    if power:
        if abs(int(power)) > EXPONENT:
            return None
        value *= Fraction(10) ** int(power)
    if match["sign2"] == "-" or ((match["sign"] or "")[:1] == "-" and _is_sign(match, text)):
        value = -value
    decimals = len(top.partition(".")[2]) if not match["below"] and not power else 0
    if match["percent"]:
        return Number((value, value / 100), decimals)
    if match["scale"]:
        return Number((value * SCALES[match["scale"].lower()], value), decimals)
    return Number((value,), decimals)


def _is_sign(match: re.Match[str], text: str) -> bool:
    """Whether the sign belongs to the number, and is no hyphen, range, sum or subtraction."""
    before = text[: match.start()]
    left = before.rstrip()
    if not left:
        return True
    if left[-1].isdigit() or left[-1] in ")]}%+-":
        return False
    return not left[-1].isalnum() or (len(before) > len(left) and len(match["sign"]) == 1)


def _rounded(short: Fraction, decimals: int, full: Fraction) -> bool:
    """Whether `short` is `full`, which never ends in decimals, rounded to `decimals` >= 2."""
    if decimals < 2:
        return False
    rest = full.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest > 1 and abs(short - full) <= Fraction(1, 2 * 10**decimals)
