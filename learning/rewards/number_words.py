"""Numbers in English words: `forty-two`, `one hundred and five`, `three quarters`.

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
_LONGEST = 30
"""Words in one number."""


def read_words(text: str) -> Fraction | None:
    """The one number that the words of a text name; None for none, or for different ones."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(text.lower()):
        if word in _UNITS or word in SCALES or word in _PARTS or (word == "and" and runs[-1]):
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    values = {_value(run) for run in runs if set(run) - {"and"}}
    return values.pop() if len(values) == 1 else None


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
