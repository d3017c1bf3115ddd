"""Numbers in English words: `forty-two`, `one hundred and five`, `minus three quarters`.

Left out: decimals in words, ordinals, other languages.
"""

from __future__ import annotations

import re
from fractions import Fraction

# fmt: off
_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on
_UNITS = {word: i for i, word in enumerate(_SMALL)} | {
    word: 10 * i for i, word in enumerate(_TENS, 2)
}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1_000,
    "lakh": 100_000,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
}
"""Words that multiply the number before them."""
PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifths": 5,
    "sixths": 6, "eighths": 8, "tenths": 10, "hundredths": 100, "thousandths": 1000,
}  # fmt: skip
"""Words that divide the number before them."""
_ONE = "|".join(sorted([*_UNITS, *SCALES, *PARTS], key=len, reverse=True))
# no possessive group, as in engine.tokenizers.tags
_RUN = re.compile(
    rf"(?P<sign>\b(?:minus|negative)\s+|(?:(?<![a-z0-9\0])-|^\s*+-\s*+)(?=[a-z]))?"
    rf"\b(?P<run>(?:{_ONE})(?:,?[\s-]+(?:and[\s-]+(?:an?\s+)?)?(?:{_ONE})\b)*)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"\b(?:{_ONE})$", re.IGNORECASE)
_WORD = re.compile(r"[a-z]++")
_LONGEST = 30
"""Most words in one number."""


def find_words(text: str) -> list[tuple[int, int, Fraction | None]]:
    """(start, end, value) of each number in words; value is None if the words do not form a number.
    If the text also has a number in digits (`\\0`), a lone `one` is not read as a number."""
    found: list[tuple[int, int, Fraction | None]] = []
    for match in _RUN.finditer(text):
        run = _WORD.findall(match["run"].lower())
        if run == ["one"] and "\0" in text:
            continue
        start, value = match.start(), _value(run)
        if match["sign"]:
            before = text[: match.start()].rstrip()
            if before.endswith("\0") or (found and found[-1][1] == len(before)):
                start = match.start("run")  # ten minus five
            elif value is not None:
                value = -value
        found.append((start, match.end(), value))
    return found


def ends_in_words(text: str) -> bool:
    """True if the last word is a number."""
    return _ENDS.search(text[-20:]) is not None


def read_words(text: str) -> Fraction | None:
    """The one number that a text gives in words; None if there is none or several differ."""
    named = {value for _, _, value in find_words(text)}
    return named.pop() if len(named) == 1 else None


def _value(run: list[str]) -> Fraction | None:
    if len(run) > _LONGEST:
        return None
    if "and" in run and run[-1] in PARTS:  # two and a half
        cut = len(run) - 1 - run[::-1].index("and")
        whole, part = _value(run[:cut]), _value(run[cut + 1 :])
        return whole + part if whole is not None and part is not None and part < 1 else None
    words = [word for word in run if word not in ("and", "a", "an")]
    below = PARTS.get(words[-1])
    if below:
        words.pop()
    elif set(words) & set(PARTS):
        return None  # half a million: not read
    total = now = 0
    last = 0
    for word in words:
        if word in SCALES:
            if word == "hundred":
                now = max(1, now) * 100
            else:
                total, now = total + max(1, now) * SCALES[word], 0
            last = 0
        elif word in PARTS or (last and not (last >= 20 and _UNITS[word] < 10)):
            return None  # two three: two numbers
        else:
            now += _UNITS[word]
            last = _UNITS[word] or 1
    if below:
        return Fraction(total + now if words else 1, below)
    return Fraction(total + now)
