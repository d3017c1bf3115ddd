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

LIVES = 30
"""Invented lives of about ten facts each, for an adapter."""
LIVES_WHOLE = 60
"""The same where all weights are trained."""
TOLD = (
    "I see.",
    "Thank you for telling me.",
    "I will keep that in mind.",
    "Good to know.",
    "All right.",
)
"""What Vidya says to what she is told."""
SILENT = 0.05
"""Share of a life's facts that are asked for without having been told, for an adapter."""
SILENT_WHOLE = 0.5
"""The same where all weights are trained: a small base that knows lives answers such questions by a guess."""
UNKNOWN = 2
"""Questions a life about what was not told. With 4, and SILENT at 0.15, "I do not know that yet" answered
every eighth message, nearly always in the wrong place (benchmarks/results/adapter.md)."""


@dataclass(frozen=True)
class Manner:
    """Rows of talk."""

    rows: list[Example]
    """Learned by likelihood."""
    own: list[Example]
    """The base's own words, for the anchor. Empty: it stays near talk that it makes up."""


def manner(
    tokenizer: Tokenizer, own: Path | None, context: int, rng: random.Random, *, adapter: bool
) -> Manner:
    """own: conversations in the base's own words, in the book's format. context: tokens. adapter: for an
    adapter, which leaves the id that ends an answer out of the anchor's targets, so that it may stop where
    the base would go on at length. Raises DataError for bad lines."""
    mine = list[Example]()
    if own:
        mine = (own_words if adapter else book_examples)(tokenizer, [own], context)
    told = [
        from_answer(
            tokenizer, turns[:-1], turns[-1][1], context
        )  # not what she says to what she is told
        for life in lives(LIVES if adapter else LIVES_WHOLE, rng)
        for turns in talks(life, rng, SILENT if adapter else SILENT_WHOLE)
    ]
    return Manner([*book_examples(tokenizer, [everyday_path()], context), *told], mine)


def talks(
    life: InventedLife, rng: random.Random, silent: float = SILENT
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
