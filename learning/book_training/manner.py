"""What a base learns besides the lines of a book: how Vidya talks of all else.

Short everyday talk in words of ours, and invented owners' lives that are told and asked for; none of it has
to be known word for word. The KL anchor holds the model near the answers that the base gave itself, so that
answers to other messages stay as they were. Left out: the steps.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, as_turns, from_answer
from learning.memory.book_rows import book_examples, own_words
from learning.text.lives import NOT_KNOWN, InventedLife, LifeFact, lives
from personality.book import everyday_path

TOLD = (
    "I see.",
    "Thank you for telling me.",
    "I will keep that in mind.",
    "Good to know.",
    "All right.",
)
"""What Vidya says to what she is told."""
UNKNOWN = 2
"""Questions a life about what was not told. With 4, and `silent` at 0.15, "I do not know that yet" answered
every eighth message, nearly always in the wrong place (benchmarks/results/adapter.md)."""


@dataclass(frozen=True)
class MannerSettings:
    """What rows of talk are made."""

    lives: int
    """Invented lives of about ten facts each."""
    silent: float
    """Share of a life's facts that are asked for without having been told, 0 to 1."""
    ends: bool
    """Whether the id that ends an answer is among the anchor's targets."""


OF_ADAPTER = MannerSettings(lives=30, silent=0.05, ends=False)
"""For an adapter: it may stop where a large base would go on at length."""
OF_ALL_WEIGHTS = MannerSettings(lives=60, silent=0.5, ends=True)
"""Where all weights are trained: a small base that knows lives answers what was never told by a guess."""


@dataclass(frozen=True)
class Manner:
    """Rows of talk."""

    rows: list[Example]
    """Learned by likelihood."""
    own: list[Example]
    """The base's own words, for the anchor. Empty: it stays near talk that it makes up."""


def manner(
    tokenizer: Tokenizer,
    own: Path | None,
    context: int,
    rng: random.Random,
    settings: MannerSettings,
) -> Manner:
    """own: conversations in the base's own words, in the book's format. context: tokens. Raises DataError
    for bad lines."""
    mine = list[Example]()
    if own:
        mine = (book_examples if settings.ends else own_words)(tokenizer, [own], context)
    told = [
        from_answer(
            tokenizer, turns[:-1], turns[-1][1], context
        )  # not what she says to what she is told
        for life in lives(settings.lives, rng)
        for turns in talks(life, rng, settings.silent)
    ]
    return Manner([*book_examples(tokenizer, [everyday_path()], context), *told], mine)


def talks(
    life: InventedLife, rng: random.Random, silent: float = OF_ADAPTER.silent
) -> Iterator[tuple[tuple[str, str], ...]]:
    """A life as conversations of (role, text): each fact told, perhaps another after it, then asked for in
    any words; and questions about what was not told, which she does not know. silent: share of the facts
    that are only asked for."""
    for fact in life.facts:
        if rng.random() < silent:
            yield as_turns([(_question(fact, rng), NOT_KNOWN)])
            continue
        before = [fact, *rng.sample([f for f in life.facts if f is not fact], rng.randrange(3))]
        rng.shuffle(before)
        said = [(rng.choice(f.statements), rng.choice(TOLD)) for f in before]
        yield as_turns([*said, _asked(fact, rng)])
    for question in life.unknown[:UNKNOWN]:
        said = [
            (rng.choice(f.statements), rng.choice(TOLD))
            for f in rng.sample(life.facts, rng.randrange(2))
        ]
        yield as_turns([*said, (question, NOT_KNOWN)])


def _question(fact: LifeFact, rng: random.Random) -> str:
    return rng.choice((fact.question, *fact.rewordings, *fact.paraphrases))


def _asked(fact: LifeFact, rng: random.Random) -> tuple[str, str]:
    """A question to which the fact is the answer, or for yes or no, or about somebody else."""
    kind = rng.random()
    if kind < 0.1 and fact.neighbours:
        return rng.choice(fact.neighbours), NOT_KNOWN
    if kind < 0.35 and (inquiries := (*fact.right, *fact.wrong, *fact.follows)):
        chosen = rng.choice(inquiries)
        return chosen.question, chosen.answer
    return _question(fact, rng), fact.answer
