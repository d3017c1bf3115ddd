"""What is asked about invented lives, beside the lessons that answer it.

    drawn = lives(8, rng)
    found, others = list(pairs(drawn, rng)), list(strangers(drawn, rng))

A lesson is its question and its answer, sometimes the question alone, or what the owner said. Asked is the
same in any other words, for yes or no, or what follows from it. Strangers are questions about the same
people to which no lesson is the answer. Left out: the lives (learning.text.lives), and the loss
(learning.maths.contrast).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from learning.text.context import question_and_answer
from learning.text.lives import InventedLife, LifeFact

QUESTION_ALONE, AS_SAID = 0.2, 0.2
"""Shares of the lessons that are known by their question alone, and by what the owner said."""

NEIGHBOURS = 4
"""Questions about others per life."""


@dataclass(frozen=True)
class Pair:
    """A lesson and a question about it."""

    asked: str
    known: str
    relation: str
    """What the fact is about: `job`, `pet_name` ..."""
    life: int
    """Whose fact it is."""


@dataclass(frozen=True)
class Stranger:
    """A question to which no lesson of a life is the answer."""

    asked: str
    life: int


def pairs(lives: Sequence[InventedLife], rng: random.Random) -> Iterator[Pair]:
    """One pair for each fact, in the order of the facts."""
    for number, life in enumerate(lives):
        for fact in life.facts:
            yield Pair(rng.choice(_askings(fact)), _known(fact, rng), fact.relation, number)


def strangers(lives: Sequence[InventedLife], rng: random.Random) -> Iterator[Stranger]:
    """Of each life what nobody told, and NEIGHBOURS of the questions about others."""
    for number, life in enumerate(lives):
        others = [text for fact in life.facts for text in fact.neighbours]
        for text in (*life.unknown, *rng.sample(others, min(NEIGHBOURS, len(others)))):
            yield Stranger(text, number)


def twins(pairs: Sequence[Pair]) -> Tensor:
    """[N, N]: true where a pair's lesson may be as right for the other's question as its own: the same text,
    or the same kind of fact in another life. A pair is its own twin."""
    texts = _numbers([pair.known for pair in pairs])
    kinds = _numbers([pair.relation for pair in pairs])
    lives = torch.tensor([pair.life for pair in pairs])
    elsewhere = lives[:, None] != lives[None, :]
    return (texts[:, None] == texts[None, :]) | (kinds[:, None] == kinds[None, :]) & elsewhere


def same_life(pairs: Sequence[Pair], strangers: Sequence[Stranger]) -> Tensor:
    """[N, M]: true where a stranger is of the pair's life; in another life its lesson may be there."""
    rows, columns = ([one.life for one in some] for some in (pairs, strangers))
    return torch.tensor(rows)[:, None] == torch.tensor(columns)[None, :]


def _numbers(texts: Sequence[str]) -> Tensor:
    """The same number for the same text."""
    places = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return torch.tensor([places[text] for text in texts])


def _askings(fact: LifeFact) -> list[str]:
    """Questions about a fact. Those without a shared word are there twice: they are the hardest."""
    follows = [one.question for one in (*fact.follows, *fact.right)]
    return [*fact.rewordings, *fact.paraphrases, *fact.paraphrases, *follows] or [fact.question]


def _known(fact: LifeFact, rng: random.Random) -> str:
    place = rng.random()
    if place < QUESTION_ALONE:
        return fact.question
    if place < QUESTION_ALONE + AS_SAID:
        return rng.choice(fact.statements)
    return question_and_answer(fact.question, fact.answer)
