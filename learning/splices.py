"""A question's own words between the small words of other questions.

A small model goes by the frame: "where was our honeymoon" begins like a line of the book about where Vidya
lives, and gets its answer, though the word that matters was taught. So a lesson is asked in frames of the
memory too, which have answers of their own: what is left to tell the two apart are the words that carry
the meaning. Pronouns are among them: "what I like" and "what you like" are different questions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from learning.folding import fold
from learning.variations import careless

_SMALL_WORDS = """
a an the is are was were am be been do does did has have had can could would should will shall of to in on at
for with by from about as if so and or but not no it its that this these those there here what who where when
why how which whats whos wheres whens hows thats isnt dont please some any just again then now
"""
_PRONOUN_WORDS = """
i you he she we they me him her us them my your his our their mine yours im youre ive
"""
_SMALL, _PRONOUNS = set(_SMALL_WORDS.split()), set(_PRONOUN_WORDS.split())
_LONGEST = 10
"""Words of a frame: a longer question is about something of its own."""
_EMPTIED = 0.8
"""Share of a frame's own words that fall out."""


def splices(question: str, frames: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Up to `count` different ones; fewer where the question or the frames give no more. frames: other
    questions, of which each must leave a small word."""
    carried = " ".join(carrying(question))
    made: dict[str, str] = {}
    for _ in range(4 * count if carried and frames else 0):
        text = _splice(carried, rng.choice(frames).split(), rng)
        if text:
            made.setdefault(text.lower(), careless(text, rng))
        if len(made) == count:
            break
    return list(made.values())


def carrying(question: str) -> list[str]:
    """The words that carry the meaning, in their order."""
    words = [word.strip("?!.,:;\"'") for word in question.split()]
    return [word for word in words if word and fold(word) not in _SMALL]


def _splice(carried: str, frame: list[str], rng: random.Random) -> str | None:
    own = [place for place, word in enumerate(frame) if fold(word) not in _SMALL]
    if len(frame) > _LONGEST or not own or len(own) == len(frame):
        return None
    slot, words = rng.choice(own), list[str]()
    for place, word in enumerate(frame):
        if place == slot:
            words.append(carried)
        elif place not in own or (fold(word) not in _PRONOUNS and rng.random() >= _EMPTIED):
            words.append(word)
    return " ".join(words) + "?"
