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
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
"""Words that multiply what stands before them."""
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4}
_WORD = re.compile(r"[a-z]++")
_MINUS = {"minus", "negative"}
_DASH = re.compile(r"(?:(?<![a-z0-9])-|^\s*+-\s*+)(?=[a-z])")
"""Before a word, and no hyphen."""
NUMBER = "\0"
"""In place of a number in digits (calculates)."""
_ANY = rf"(?:{NUMBER}|\b(?:{'|'.join([*_UNITS, *SCALES, *_PARTS])})s?\b)"
_BETWEEN = r"(?:[x·⋅∙]|(?:times|plus|minus|point|over|(?:multiplied |divided )?by)\b)"
_CALCULATION = re.compile(
    rf"{_ANY}[ -]{{0,3}}{_BETWEEN}[ -]{{0,3}}{_ANY}"
    rf"|{NUMBER} and (?:a|one|two|three) (?:half|third|quarter)s?\b"
    rf"|\b(?:half|twice|double) (?:of )?{NUMBER}",
    re.IGNORECASE,
)
_LONGEST = 30
"""Words in one number."""


def read_words(text: str) -> Fraction | None:
    """The one number that the words of a text name; None for none, for different ones, or for a
    calculation."""
    if calculates(text):
        return None
    runs: list[list[str]] = [[]]
    signs = [1]
    for word in _WORD.findall(_DASH.sub("minus ", text.lower())):
        if word in _UNITS or word in SCALES or word in _PARTS or (word == "and" and runs[-1]):
            runs[-1].append(word)
            continue
        if runs[-1]:
            runs.append([])
            signs.append(1)
        signs[-1] = -1 if word in _MINUS else 1
    values = [
        (sign, _value(run)) for sign, run in zip(signs, runs, strict=True) if set(run) - {"and"}
    ]
    named = {value if value is None else sign * value for sign, value in values}
    return named.pop() if len(named) == 1 else None


def calculates(text: str) -> bool:
    """Whether two numbers stand at a word or sign that calculates (`two times two`, `two point two`), or
    a word makes another number of one in digits (`5 and a half`, `twice 5`)."""
    return _CALCULATION.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether what follows a number in digits makes another one of it: ` and a half`, ` times two`."""
    return _CALCULATION.match(NUMBER + text) is not None


def _value(run: list[str]) -> Fraction | None:
    words = [word for word in run if word != "and"]
    if len(words) > _LONGEST:
        return None
    below = _PARTS.get(words[-1])
    if below:
        words.pop()
    elif set(words) & set(_PARTS):
        return None  # half a million, two and a half: not read
    total = now = 0
    last = 0
    for word in words:
        if word in SCALES:
            if word == "hundred":
                now = max(1, now) * 100
            else:
                total, now = total + max(1, now) * SCALES[word], 0
            last = 0
        elif last and not (last >= 20 and _UNITS[word] < 10):
            return None  # two three: two numbers
        else:
            now += _UNITS[word]
            last = _UNITS[word] or 1
    if below:
        return Fraction(total + now if words else 1, below)
    return Fraction(total + now)
