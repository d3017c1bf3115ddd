"""A question's own words between the small words of other questions.

A small model goes by the frame: "where was our honeymoon" begins like a line of the book about where Vidya
lives, and gets its answer, though the word that matters was taught. So a lesson is asked in frames of the
memory too, which have answers of their own, and of the owner's turns in the model's own talk: what is left
to tell them apart are the words that carry the meaning. Pronouns are among them: "what I like" and "what
you like" are different questions. People ask with words of their own ("Where did I put my card for the
library?"), so some of a frame's stay, some of the question's fall out, and they stand apart.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

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
_KEPT = 0.5
"""Chance of a frame's own word to stay: people use words of their own too."""
_WHOSE = 0.3
"""Chance of a frame's pronoun to stay."""
_PARTED = 0.5
"""Chance that what is carried stands in two places, in either order."""
_DROPPED = 0.3
"""Chance of what is carried to fall out, the rarest excepted."""


def splices(
    question: str,
    frames: Sequence[str],
    count: int,
    rng: random.Random,
    more: Sequence[str] = (),
) -> list[str]:
    """Up to `count` different ones; fewer where the question or the frames give no more. frames: other
    questions, of which each must leave a small word; every other one is drawn from `more` if there are
    any."""
    groups = _groups(carrying(question))
    kinds = [kind for kind in (frames, more) if kind]
    made: dict[str, str] = {}
    if not groups or not kinds:
        return []
    rarest = _rarest(groups, _counted(tuple(frames)), _counted(tuple(more)))
    for _ in range(4 * count):
        text = _splice(groups, rarest, rng.choice(rng.choice(kinds)).split(), rng)
        if text:
            made.setdefault(text.lower(), careless(text, rng))
        if len(made) == count:
            break
    return list(made.values())


def carrying(question: str) -> list[str]:
    """The words that carry the meaning, in their order."""
    words = [word.strip("?!.,:;\"'") for word in question.split()]
    return [word for word in words if word and fold(word) not in _SMALL]


def _groups(carried: list[str]) -> list[list[str]]:
    """Words that stay together: a pronoun and what follows it."""
    groups: list[list[str]] = []
    for word in carried:
        if groups and fold(groups[-1][-1]) in _PRONOUNS:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


@lru_cache(maxsize=4)
def _counted(frames: tuple[str, ...]) -> Counter[str]:
    """In how many of the frames each word is."""
    return Counter(word for frame in frames for word in {fold(word) for word in frame.split()})


def _rarest(groups: list[list[str]], *seen: Counter[str]) -> int:
    """Place of the group with the word that the fewest frames have; pronouns tell nothing apart."""

    def count(place: int) -> float:
        words = [fold(word) for word in groups[place]]
        rest = [word for word in words if word not in _PRONOUNS]
        return min((sum(counted[word] for counted in seen) for word in rest), default=math.inf)

    return min(range(len(groups)), key=count)


def _splice(
    groups: list[list[str]], rarest: int, frame: list[str], rng: random.Random
) -> str | None:
    own = [place for place, word in enumerate(frame) if fold(word) not in _SMALL]
    if len(frame) > _LONGEST or not own or len(own) == len(frame):
        return None
    parts = _parts(groups, rarest, rng)
    slots = sorted(rng.sample(own, min(len(own), len(parts))))
    words = list[str]()
    for place, word in enumerate(frame):
        if place in slots:
            words.append(parts.pop(0))
        elif place not in own or rng.random() < (_WHOSE if fold(word) in _PRONOUNS else _KEPT):
            words.append(word)
    for part in parts:  # the frame has one slot
        words.insert(rng.choice((0, len(words))), part)
    return " ".join(words).rstrip("?!.,") + "?"


def _parts(groups: list[list[str]], rarest: int, rng: random.Random) -> list[str]:
    """What is carried, in one piece or two."""
    kept = [
        group for place, group in enumerate(groups) if place == rarest or rng.random() >= _DROPPED
    ]
    parts = [kept]
    if len(kept) > 1 and rng.random() < _PARTED:
        cut = rng.randrange(1, len(kept))
        parts = rng.sample([kept[:cut], kept[cut:]], 2)
    return [" ".join(word for group in part for word in group) for part in parts]
