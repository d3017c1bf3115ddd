"""A question's own words between the small words of other questions.

A small model goes by the frame: "where was our honeymoon" begins like a line of the book about where
Vidya lives, and gets its answer, though the word that matters was taught. So a lesson is asked in
frames of the memory too, which have answers of their own, and of the owner's turns in the model's own
talk: what is left to tell them apart are the words that carry the meaning. Pronouns are among them:
"what I like" and "what you like" are different questions. People ask with words of their own ("Where
did I put my card for the library?"), so some of a frame's stay, some of the question's fall out, and
they stand apart.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from learning.text.normalise import fold
from learning.text.variations import careless

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
"""Chance of what is carried to fall out; pronouns and the rarest word never do."""


class Questions:
    """Texts that others are asked between the words of, and the words that are in them."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = tuple(texts)
        self.words = [frozenset(fold(word) for word in text.split()) for text in self.texts]
        self.counts = Counter(word for words in self.words for word in words)
        """In how many texts each word is."""
        self.frames = [text for text in self.texts if _slots(text.split())]
        """Those that leave at least one small word, and are not too long."""


NO_QUESTIONS = Questions()


@dataclass(frozen=True)
class _Carried:
    """What a question carries into frames."""

    groups: list[list[str]]
    """Words that stay together."""
    rarest: int
    """The group that never falls out."""
    others: list[frozenset[str]]
    """Words of remembered questions with answers of their own."""

    def drawn(self, rng: random.Random) -> list[list[str]]:
        """Groups that are left; all where those could just as well ask for something else."""
        kept = [
            group
            for place, group in enumerate(self.groups)
            if place == self.rarest or _has_pronoun(group) or rng.random() >= _DROPPED
        ]
        left = {fold(word) for group in kept for word in group}
        return self.groups if any(left <= words for words in self.others) else kept


def splices(
    question: str,
    memory: Questions,
    count: int,
    rng: random.Random,
    *,
    talk: Questions = NO_QUESTIONS,
    own: Collection[str] = (),
) -> list[str]:
    """Up to `count` different ones; fewer where the question or the frames give no more. memory: other
    questions with answers of their own, `own` left out; talk: what else is said, from which every other
    frame is drawn if there is any."""
    groups = _groups(carrying(question))
    kinds = [kind.frames for kind in (memory, talk) if kind.frames]
    made: dict[str, str] = {}
    if not groups or not kinds:
        return []
    pairs = zip(memory.texts, memory.words, strict=True)
    others = [words for text, words in pairs if text not in own]
    carried = _Carried(groups, _rarest(groups, memory.counts, talk.counts), others)
    for _ in range(4 * count):
        frame = rng.choice(rng.choice(kinds))
        if frame not in own:
            text = _splice(carried, frame.split(), rng)
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


def _has_pronoun(group: list[str]) -> bool:
    return any(fold(word) in _PRONOUNS for word in group)


def _rarest(groups: list[list[str]], *seen: Counter[str]) -> int:
    """Place of the group with the word that the fewest texts have, the longest of equally rare ones;
    pronouns tell nothing apart."""

    def rarity(place: int) -> tuple[float, int]:
        words = [fold(word) for word in groups[place] if fold(word) not in _PRONOUNS]
        counted = (sum(counts[word] for counts in seen) for word in words)
        return min(counted, default=math.inf), -max(map(len, words), default=0)

    return min(range(len(groups)), key=rarity)


def _slots(frame: list[str]) -> list[int]:
    """Places of a frame's own words; none where it leaves no small word, or is too long."""
    own = [place for place, word in enumerate(frame) if fold(word) not in _SMALL]
    return own if len(frame) <= _LONGEST and len(own) < len(frame) else []


def _splice(carried: _Carried, frame: list[str], rng: random.Random) -> str:
    own, parts = _slots(frame), _parts(carried.drawn(rng), rng)
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


def _parts(kept: list[list[str]], rng: random.Random) -> list[str]:
    """In one piece or two."""
    parts = [kept]
    if len(kept) > 1 and rng.random() < _PARTED:
        cut = rng.randrange(1, len(kept))
        parts = rng.sample([kept[:cut], kept[cut:]], 2)
    return [" ".join(word for group in part for word in group) for part in parts]
