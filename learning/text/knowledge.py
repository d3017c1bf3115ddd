"""Conversations of common knowledge: what everybody knows of countries, animals, food, work and words.

    conversation(random.Random(0))

The facts and the ways to ask for them stand in knowledge.txt, which says how it is written. The same random
numbers give the same conversation. What a benchmark asks is left out by whoever trains (`excluded`). Left
out: facts about the owner (learning.text.lives) and about Vidya (the book).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from learning.text.kinds.articles import with_article

_FILE = Path(__file__).with_name("knowledge.txt")
_TEXTS = 0.12
"""Chance of a text of several statements in place of a conversation."""
_ALIKE = 0.3
"""Chance that all questions of a conversation are of one relation."""
_PROPER = ("Africa", "Asia")
_TALK = (
    ("hi", "Hello! What would you like to know?"),
    ("hello", "Hello there."),
    ("I have a question.", "Go on, ask me."),
    ("thanks", "You are welcome."),
    ("can I ask you something?", "Of course, ask me."),
    ("let us talk about something else", "All right. What about?"),
    ("ok", "What else would you like to know?"),
    ("that is interesting", "I think so too."),
)
_OPENINGS = ("Please tell me: ", "Hey, ", "A question: ", "I wonder: ", "Quick question. ")

Turn = tuple[str, str]
"""A question and its answer."""


@dataclass(frozen=True)
class Relation:
    """What the Ys of some Xs are: the capitals of countries, the sounds of animals ..."""

    name: str
    asks: Sequence[str]
    """Frames of questions for Y."""
    tells: Sequence[str]
    """Frames of their answers."""
    asks_back: Sequence[str]
    """Frames of questions for X."""
    tells_back: Sequence[str]
    asks_whether: Sequence[str]
    """Frames of questions for yes or no."""
    states: Sequence[str]
    """Frames of statements."""
    pairs: Sequence[tuple[str, str]]
    """(X, Y)."""
    of: dict[str, set[str]] = field(default_factory=dict, hash=False)
    """X -> its Ys."""


@cache
def relations() -> tuple[Relation, ...]:
    """The relations of knowledge.txt."""
    found: list[tuple[str, dict[str, list[str]]]] = []
    for line in _FILE.read_text("utf-8").splitlines():
        kind, _, text = line.partition(" ")
        if kind == "=":
            found.append((text, {letter: [] for letter in "qapbysd"}))
        elif kind != "#":
            found[-1][1][kind].append(text)
    return tuple(_relation(name, lines) for name, lines in found)


def _relation(name: str, lines: dict[str, list[str]]) -> Relation:
    pairs = [_pair(text) for row in lines["d"] for text in row.split(";")]
    of: dict[str, set[str]] = {}
    for x, y in pairs:
        of.setdefault(x, set()).add(y)
    asks, tells, back, tells_back, whether, states = (tuple(lines[letter]) for letter in "qapbys")
    return Relation(name, asks, tells, back, tells_back, whether, states, tuple(pairs), of)


def _pair(text: str) -> tuple[str, str]:
    x, _, y = text.partition("=")
    return x, y


def conversation(
    rng: random.Random, excluded: Callable[[str], bool] = lambda _: False
) -> tuple[list[Turn], str]:
    """(turns, "") or ([], text): one to five questions, or a text of statements; turns may be empty if
    many questions are excluded."""
    known = relations()
    sizes = [len(relation.pairs) for relation in known]
    if rng.random() < _TEXTS:
        relation = rng.choices(known, sizes)[0]
        if relation.states:
            return [], _text(relation, rng)
    alike = rng.choices(known, sizes)[0] if rng.random() < _ALIKE else None
    turns: list[Turn] = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        if rng.random() < 0.12:
            turns.append(rng.choice(_TALK))
        asked, answer = question(alike or rng.choices(known, sizes)[0], rng)
        if not excluded(asked):
            turns.append((_typed(asked, rng), answer))
    return turns, ""


def _text(relation: Relation, rng: random.Random) -> str:
    told = [rng.choice(relation.pairs) for _ in range(rng.randint(3, 9))]
    return " ".join(filled(rng.choice(relation.states), *pair) for pair in told)


def question(relation: Relation, rng: random.Random) -> Turn:
    """A question of the relation, for Y, for X, or for yes or no, and its answer."""
    x, y = rng.choice(relation.pairs)
    lot = rng.random()
    if relation.asks_back and 0.6 <= lot < 0.8:
        return filled(rng.choice(relation.asks_back), x, y), filled(
            rng.choice(relation.tells_back), x, y
        )
    if relation.asks_whether and lot >= 0.8:
        return _whether(relation, x, y, rng)
    return filled(rng.choice(relation.asks), x, y), filled(rng.choice(relation.tells), x, y)


def _whether(relation: Relation, x: str, y: str, rng: random.Random) -> Turn:
    told = filled(rng.choice(relation.tells), x, y)
    if not told.startswith(_PROPER) and not any(
        word[:1].isupper() and told.startswith(word) for word in (x, y)
    ):
        told = told[:1].lower() + told[1:]
    others = [other for _, other in rng.choices(relation.pairs, k=20)]
    wrong = [other for other in others if other not in relation.of[x]]
    ask = rng.choice(relation.asks_whether)
    if rng.random() < 0.5 or not wrong:
        return filled(ask, x, y), f"Yes, {told}"
    return filled(ask, x, wrong[0]), f"No, {told}"


def filled(frame: str, x: str, y: str) -> str:
    """A frame with its X and Y."""
    slots = {
        "{a X}": with_article(x),
        "{A X}": capital(with_article(x)),
        "{a Y}": with_article(y),
        "{A Y}": capital(with_article(y)),
        "{Xs}": capital(x),
        "{X}": x,
        "{Y}": y,
    }
    for slot, word in slots.items():
        frame = frame.replace(slot, word)
    return capital(frame) if frame.endswith((".", "!")) else frame


def capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]


def _typed(text: str, rng: random.Random) -> str:
    """As people type it."""
    if rng.random() < 0.2 and not text.startswith("I "):
        text = text[:1].lower() + text[1:]
    if rng.random() < 0.12:
        text = text.rstrip("?.")
    if rng.random() < 0.06:
        text = rng.choice(_OPENINGS) + text
    return text
