"""Numbers as people and models write them, compared exactly: signs, separators, units, currency,
fractions, percentages, powers of ten, multiples, words.

A text is undressed (dress.py), every quantity in it is parsed once, and what is left of the text says
which of them it asserts (asserted.py). In an answer field all that are asserted must be the same; in a
text without field those after `the answer is` must, else the last one of the last sentence with a number
counts. `25%` is 25 or 1/4 and `3 million` is 3 or 3,000,000, since a question may ask for either; `18k`
is 18,000. Reading takes time linear in the text, numbers that are too long or too large are none, and
nothing is evaluated but whether the two sides of an equation of numbers are equal. Left out: decimal
commas (`3,5` is two numbers), arithmetic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from learning.rewards.answer import Answer
from learning.rewards.asserted import DIGITS, WORDS, answering, denied, entangled, places
from learning.rewards.dress import undressed
from learning.rewards.number_words import PARTS, SCALES, ends_in_words, find_words

LONGEST = 60
"""Characters; a longer number is none."""
EXPONENT = 300
"""The largest power of ten, up or down."""
TAIL = 2_000
"""Characters from the end of a text in which its last number is looked for."""
MOST = 50
"""More numbers in a field are no answer."""

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
"""Their powers of ten. A small m is a metre, a small b and t are units too."""
_FRAC = re.compile(r"\\[dt]?frac\s{0,2}(?:\{(-?[0-9]{1,60})\}\{([0-9]{1,60})\}|([0-9])([0-9]))")
_THIN = re.compile("(?<=[0-9])[\u00a0\u202f\u2009'’_~](?=[0-9]{3}(?![0-9]))")
_SPACED = re.compile(r"(?<![0-9.,/])[0-9]{1,3}(?: [0-9]{3})++(?![0-9,/])")
_SQUARE = re.compile(
    r"(?<=[0-9 ])((?:[ckm]?m|ft|in|yd|mi|units?|feet|foot|inch(?:es)?|yards?|miles?|met(?:er|re)s?) ?)"
    r"(?:\^ ?(?:[23]|\{[23]\})|[²³])(?![0-9])",
    re.IGNORECASE,
)
"""A unit of area or volume; its power is none of the number."""
_BOX = re.compile(r"\\f?boxed ?")
_CALCULATES = set("^*×÷√π±∞<>≤≥≠≈~\\¬=")
_EQUATION = re.compile(
    rf"(?:^|(?<=[\s=(]))({DIGITS}(?:\s*[-+*/×÷·x]\s*{DIGITS})*)\s*=(?=\s*({DIGITS})(?!\s*[-+*/×÷·^]))"
)


@dataclass(frozen=True)
class Number:
    """What was written, exactly."""

    values: tuple[Fraction, ...]
    """Its readings: one; for percentages and scale words two."""
    decimals: int = 0
    """Digits after the point."""

    def same(self, other: Number, *, exactly: bool = False) -> bool:
        """Whether one reading of each is equal, or the first where both have two; unless `exactly`, a
        fraction that has no end in decimals may be rounded to two digits or more."""
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
class _Read:
    """A text with its quantities taken out."""

    skeleton: str
    numbers: dict[int, Number | None]
    """By their places in the skeleton; None: too long, or a division still to be done."""
    left: dict[int, Fraction]
    """Values of divisions still to be done, which may be a side of an equation."""

    def same(self, one: int, other: int) -> bool:
        """Whether the numbers at two places are one and the same."""
        a, b = self.numbers[one], self.numbers[other]
        return a is not None and b is not None and a.same(b, exactly=True)


def number_score(truth: str, answer: Answer) -> float:
    """1 where the answer is the number `truth`, else 0. Never raises."""
    right = read_number(truth)
    said = answer.said
    if right is None or said is None:
        return 0.0
    found = read_number(said) if answer.fields else last_number(said)
    return float(found is not None and right.same(found))


def read_number(text: str, *, bare: bool = False) -> Number | None:
    """The one number that a short text asserts; after an equals sign what follows the last of them.
    None for no number, different numbers, a calculation, or a false equation. `bare`: nothing may stand
    beside it but white space, currency and a percent sign (no unit, no variable)."""
    if len(text) > TAIL:
        return None
    inside = boxed_or_none(text)
    read = _read(text if inside is None else inside)
    if _is_false(read):
        return None
    skeleton = read.skeleton
    start = skeleton.rfind("=") + 1
    if start and (skeleton[:start].rstrip("= ")[-1:] in ("!", "/", "<", ">", "~")):
        return None
    around = skeleton.replace(DIGITS, " ").replace(WORDS, "")
    if any(c in _CALCULATES for c in around[start:]) or any(c.isdigit() for c in around):
        return None
    if bare and (around[start:].strip(" .$") or WORDS in skeleton):
        return None
    found = places(skeleton, start)
    if not entangled(skeleton, read.same).isdisjoint(found):
        return None
    return _one(read, found, must_agree=True)


def last_number(text: str) -> Number | None:
    """What a text without answer field gives as its answer: the number after the last `####`, in the
    last `\\boxed{}`, after `the answer is`, or the last of its last sentence with a number."""
    tail = text[-TAIL:]
    if len(text) > TAIL:  # a number that begins before the tail must not lose its front
        tail = tail[re.match(r"[^\s]*", tail).end() :]  # type: ignore[union-attr]
    marked = re.split(r"(?<!#)####(?!#)", tail)
    if len(marked) > 1:
        return read_number(marked[-1].strip().split("\n")[0])
    if (inside := boxed_or_none(tail)) is not None:
        return None if box_is_denied(tail, inside) else read_number(inside)
    read = _read(tail)
    found, must_agree = answering(read.skeleton)
    return _one(read, found, must_agree)


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


def _one(read: _Read, found: list[int], must_agree: bool) -> Number | None:
    """The number that is asserted at one of those places: the last; or the only one."""
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


def _read(text: str) -> _Read:
    text = undressed(text.replace(DIGITS, " ").replace(WORDS, " "))
    if "\\" in text:
        text = _FRAC.sub(lambda m: f" {m[1] or m[3]}/{m[2] or m[4]}", text)
    text = _SQUARE.sub(r"\1", _THIN.sub("", text))
    text = _SPACED.sub(lambda m: m[0].replace(" ", ""), text)
    pieces: list[str] = []
    found: list[tuple[Number | None, Fraction | None]] = []
    end = 0
    for match in _NUMBER.finditer(text):
        pieces.append(text[end : match.start()])
        sign = match["sign"] or ""
        signed = bool(sign) and _is_sign(match, text)
        pieces.append(sign if sign and not signed else "")
        found.append(
            _parse(
                match,
                negative=signed and not sign.startswith("+"),
                stray=_is_stray(match, text, signed),
            )
        )
        pieces.append(DIGITS)
        end = match.end()
    pieces.append(text[end:])
    skeleton = "".join(pieces)
    in_digits = iter(found)
    numbers: dict[int, Number | None] = {}
    left: dict[int, Fraction] = {}
    pieces, end, size = [], 0, 0

    def keep(piece: str) -> None:
        nonlocal size
        for i, letter in enumerate(piece):
            if letter == DIGITS:
                number, undone = next(in_digits)
                numbers[size + i] = number
                if undone is not None:
                    left[size + i] = undone
        pieces.append(piece)
        size += len(piece)

    for start, stop, value in find_words(skeleton):
        keep(skeleton[end:start])
        numbers[size] = Number((value,)) if value is not None else None
        pieces.append(WORDS)
        size += 1
        end = stop
    keep(skeleton[end:])
    return _Read("".join(pieces), numbers, left)


def _parse(
    match: re.Match[str], *, negative: bool, stray: bool
) -> tuple[Number | None, Fraction | None]:
    """The number, and the value of a division still to be done."""
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
        if value.denominator == 1:  # 48/2 is a calculation still to be done
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
    """Whether the sign belongs to the number, and is no hyphen, range, sum or subtraction."""
    before = text[: match.start()]
    left = before.rstrip()
    if not left:
        return True
    if left[-1].isdigit() or left[-1] in ")]}%+-":
        return False
    if match["sign"][0].isalpha():
        return not ends_in_words(left)
    return not left[-1].isalnum() or (len(before) > len(left) and len(match["sign"]) == 1)


def _is_stray(match: re.Match[str], text: str, signed: bool) -> bool:
    """Whether a sign before the number is neither its own nor the hyphen of a word."""
    if signed or not match["sign"]:
        return False
    left = text[: match.start()].rstrip()
    return not (left[-1:].isdigit() or (left[-1:].isalpha() and left[-2:-1].isalpha()))


def _false_sides(read: _Read) -> set[int]:
    """Places of numbers that are said to equal another number: `6 = 5`."""
    return {
        side
        for sides, right, value in _equations(read)
        if len(sides) == 1 and sides[0] not in read.left and not _equal(read, value, right)
        for side in (sides[0], right)
    }


def _left_sides(read: _Read) -> set[int]:
    """Places of divisions that have been done: `48/2 = 24`."""
    return {
        sides[0] for sides, _, _ in _equations(read) if len(sides) == 1 and sides[0] in read.left
    }


def _is_false(read: _Read) -> bool:
    """Whether an equation of numbers in it does not hold."""
    return any(
        value is not None and not _equal(read, value, right) for _, right, value in _equations(read)
    )


def _equations(read: _Read) -> list[tuple[list[int], int, Number | None]]:
    """Of each: places of the numbers on its left side, that of its right one, and the left value."""
    found = []
    for match in _EQUATION.finditer(read.skeleton):
        before = read.skeleton[: match.start()].rstrip(" (")
        if before and not before.endswith(("=", ":", ".", "!", "?", "\n", " is", " so")):
            continue  # its left side may begin further to the left
        sides = [i for i in range(match.start(1), match.end(1)) if read.skeleton[i] == DIGITS]
        found.append((sides, match.start(2), _calculated(read, match, sides)))
    return found


def _calculated(read: _Read, match: re.Match[str], sides: list[int]) -> Number | None:
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


def _equal(read: _Read, value: Number | None, right: int) -> bool:
    other = read.numbers[right]
    return value is None or other is None or value.same(other)


def box_is_denied(tail: str, inside: str) -> bool:
    """Whether the sentence around the last box says that what is in it is not the answer, or one of
    several."""
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


def _rounded(short: Fraction, decimals: int, full: Fraction) -> bool:
    """Whether `short` is `full`, which never ends in decimals, rounded to `decimals` >= 2."""
    if decimals < 2:
        return False
    rest = full.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest > 1 and abs(short - full) <= Fraction(1, 2 * 10**decimals)
