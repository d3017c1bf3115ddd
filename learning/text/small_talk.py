"""Conversations of everyday talk: greetings, moods, plans, food, family, and who Vidya is.

    conversation(random.Random(0))

What people say and fitting answers stand in small_talk.txt, which says how it is written. The same random
numbers give the same conversation. Left out: common knowledge (learning.text.knowledge).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from learning.text.kinds.articles import with_article
from learning.text.knowledge import Turn, capital

_FILE = Path(__file__).with_name("small_talk.txt")
_SLOT = re.compile(r"\{(?:a )?(\w+)\}")
_ASKS = re.compile(
    r"(what|who|how|why|where|when|which|can|could|do|does|did|are|is|will|should|have|shall)\b"
)
_TELLS = ("have a", "do not")
"""Beginnings that look like a question and are none."""


@dataclass(frozen=True)
class Frame:
    """What people say in several ways, and fitting answers."""

    said: Sequence[str]
    answers: Sequence[str]


@cache
def frames() -> tuple[Mapping[str, Sequence[str]], Sequence[Frame]]:
    """(lists of words by name, frames) of small_talk.txt."""
    lists: dict[str, Sequence[str]] = {}
    found: list[Frame] = []
    said: Sequence[str] = ()
    for line in _FILE.read_text("utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind.startswith("@"):
            lists[kind[1:]] = text.split("|")
        elif kind == "u":
            said = text.split("|")
        elif kind == "v":
            found.append(Frame(said, text.split("|")))
    return lists, found


def conversation(
    rng: random.Random, excluded: Callable[[str], bool] = lambda _: False
) -> list[Turn]:
    """One to five turns; fewer, or none, where what people say is excluded."""
    turns = [exchange(rng) for _ in range(rng.choice((1, 1, 2, 3, 4, 5)))]
    return [turn for turn in turns if not excluded(turn[0])]


def exchange(rng: random.Random) -> Turn:
    """What somebody says, as people type it, and an answer."""
    lists, found = frames()
    # frames with a slot have more to say, so they come more often
    sizes = [len(frame.said) * (3 if _SLOT.search(frame.said[0]) else 1) for frame in found]
    frame = rng.choices(found, sizes)[0]
    said = rng.choice(frame.said)
    answer = rng.choice(_fitting(said, frame.answers))
    for slot in _SLOT.findall(said + answer):
        word = rng.choice(lists[slot])
        said, answer = (_filled(text, slot, word) for text in (said, answer))
    if rng.random() < 0.65:
        said = capital(said) + _mark(said.lower(), rng)
    return said, capital(answer)


def _filled(text: str, slot: str, word: str) -> str:
    return text.replace(f"{{{slot}}}", word).replace(f"{{a {slot}}}", with_article(word))


def _fitting(said: str, answers: Sequence[str]) -> Sequence[str]:
    """The answers that name nothing new. Where nothing is named, an answer may suggest something."""
    named = set(_SLOT.findall(said))
    if not named:
        return answers
    return [a for a in answers if named.issuperset(_SLOT.findall(a))] or ["I see. Tell me more."]


def _mark(said: str, rng: random.Random) -> str:
    if _ASKS.match(said) and not said.startswith(_TELLS):
        return "?"
    return rng.choice("...!")
