"""Rewords a question by putting its content words between the function words of other questions.

A small model attends to the function words: "where was our honeymoon" begins like the book's line about where
Vidya lives, so the model gives that line's answer, although "honeymoon" was taught. Here a lesson's content
words are put into frames: other remembered questions, which have different answers, and the owner's turns in
the model's self-generated talk. Only the content words then tell the questions apart. Pronouns count as
content words, because "what I like" and "what you like" are different questions. Owners use words of their
own ("Where did I put my card for the library?"). Therefore some of the frame's content words stay, some of
the question's are dropped, and the rest may be split into two parts.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from learning.text.kinds.recognise import Asked, what_is_asked
from learning.text.normalise import fold, fold_word
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
"""Most words of a frame. Longer questions are too specific to serve as one."""
_KEPT = 0.5
"""Probability that a content word of the frame stays; imitates words that the owner adds."""
_WHOSE = 0.3
"""Probability that a pronoun of the frame stays."""
_PARTED = 0.5
"""Probability that the question's words are split into two parts, in either order."""
_DROPPED = 0.3
"""Probability that a group of the question's words is dropped. Groups with pronouns and the group with the
rarest word never are."""


class Questions:
    """Questions that serve as frames for others, with their folded words and word counts."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = tuple(texts)
        self.places = {text: place for place, text in enumerate(self.texts)}
        """Text -> its place in `texts`."""
        self.words = [frozenset(map(fold_word, text.split())) for text in self.texts]
        self.counts = Counter(word for words in self.words for word in words)
        """Number of texts that contain each word."""
        self.frames = [text for text in self.texts if _slots(text.split())]
        """The texts with a function word, a content word and at most _LONGEST words."""

    @cached_property
    def asked_last(self) -> dict[Asked, int]:
        """What is asked (learning.text.kinds.recognise) -> the last place in `texts` where it is."""
        questions = (text.rpartition(" / ")[2] for text in self.texts)
        return {what_is_asked(text): place for place, text in enumerate(questions)}


NO_QUESTIONS = Questions()


@dataclass(frozen=True)
class _Carried:
    """The content words of one question."""

    groups: list[list[str]]
    """Consecutive words that stay together."""
    rarest: int
    """Index of the group with the rarest word; it is never dropped."""
    others: list[frozenset[str]]
    """Folded words of each remembered question that has another answer."""

    def drawn(self, rng: random.Random) -> list[list[str]]:
        """The groups that are not dropped; all groups if the rest would also fit another remembered
        question."""
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
    """Up to `count` different rewordings of `question`; fewer if the question or the frames give no more.

    memory: remembered questions. own: those of them that have this question's answer; they are not used as
    frames. talk: the owner's turns in self-generated talk; half of the frames are drawn from it, if it has
    any.
    """
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
    """The content words of the question, pronouns included, in order and without punctuation."""
    words = [word.strip("?!.,:;\"'") for word in question.split()]
    return [word for word in words if word and fold(word) not in _SMALL]


def _groups(carried: list[str]) -> list[list[str]]:
    """Groups the words: a pronoun stays with the word after it."""
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
    """Index of the group with the word that occurs in the fewest texts; among equally rare ones the longest
    word decides. Pronouns are ignored. seen: counts of texts by word."""

    def rarity(place: int) -> tuple[float, int]:
        words = [fold(word) for word in groups[place] if fold(word) not in _PRONOUNS]
        counted = (sum(counts[word] for counts in seen) for word in words)
        return min(counted, default=math.inf), -max(map(len, words), default=0)

    return min(range(len(groups)), key=rarity)


def _slots(frame: list[str]) -> list[int]:
    """Indexes of a frame's content words; empty if the frame has no function word or is too long."""
    own = [place for place, word in enumerate(frame) if fold_word(word) not in _SMALL]
    return own if len(frame) <= _LONGEST and len(own) < len(frame) else []


def _splice(carried: _Carried, frame: list[str], rng: random.Random) -> str:
    own, parts = _slots(frame), _parts(carried.drawn(rng), rng)
    slots = sorted(rng.sample(own, min(len(own), len(parts))))
    words = list[str]()
    for place, word in enumerate(frame):
        if place in slots:
            words.append(parts.pop(0))
        elif place not in own or rng.random() < (_WHOSE if fold_word(word) in _PRONOUNS else _KEPT):
            words.append(word)
    for part in parts:  # the frame has one slot
        words.insert(rng.choice((0, len(words))), part)
    return " ".join(words).rstrip("?!.,") + "?"


def _parts(kept: list[list[str]], rng: random.Random) -> list[str]:
    """Joins the groups into one part or two."""
    parts = [kept]
    if len(kept) > 1 and rng.random() < _PARTED:
        cut = rng.randrange(1, len(kept))
        parts = rng.sample([kept[:cut], kept[cut:]], 2)
    return [" ".join(word for group in part for word in group) for part in parts]
