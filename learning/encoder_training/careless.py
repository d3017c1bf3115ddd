"""Texts as they are typed in a hurry: without marks, with letters that were swapped or left out.

    careless("What's my sister called?", rng)  # "whats my sitser called"

The encoder is to give such a text the vector of the text as it should be. Left out: words that are spelled
as they sound.
"""

from __future__ import annotations

import random

SHORTEST = 5
"""Letters of a word in which a letter may go wrong."""
_MARKS = str.maketrans("", "", "'\u2019,.?!;:")


def careless(text: str, rng: random.Random) -> str:
    """The text without its marks half of the time, and with one wrong letter half of the time."""
    if rng.random() < 0.5:
        text = text.translate(_MARKS)
    words = text.split(" ")
    long = [at for at, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha()]
    if long and rng.random() < 0.5:
        at = rng.choice(long)
        words[at] = _wrong(words[at], rng)
    return " ".join(words)


def _wrong(word: str, rng: random.Random) -> str:
    """A word with two neighbouring letters swapped, or one left out or doubled; never the first or last."""
    at = rng.randrange(1, len(word) - 2)
    middle = rng.choice((word[at + 1] + word[at], word[at + 1], word[at] * 2 + word[at + 1]))
    return word[:at] + middle + word[at + 2 :]
