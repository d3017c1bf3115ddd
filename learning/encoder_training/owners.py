"""Facts that people told in passing, with the questions that they may ask about them weeks later.

    owners = read_owners(Path("benchmarks/data/owners.jsonl"), "tune")
    found, others = list(told_pairs(owners[:2], rng)), list(traps(owners[:2], rng))

One line a fact, the facts of an owner together. Of one owner's statements one alone answers a question, and
none answers what is asked in `unknown` and `neighbour`. Left out: the loss (learning.maths.contrast).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.errors import DataError
from learning.data.json_lines import parse
from learning.encoder_training.pairs import QUESTION_ALONE, Pair, Stranger
from learning.text.context import question_and_answer

ASKED = ("plain", "other", "other", "far", "careless")
"""How the questions of a fact ask: in nearly its words, twice in other words, without a shared content word,
and carelessly typed."""
ASKINGS = 2
"""Questions per fact in one step."""
WITH_QUESTION = 0.2
"""Share of the statements that stand behind a question, as the answer of a lesson does."""


@dataclass(frozen=True)
class OwnerFact:
    """One line of the file."""

    owner: int
    half: str
    """`tune` or `unseen`: the latter for final figures alone."""
    said: str
    asked: tuple[str, ...]
    """As ASKED says."""
    unknown: tuple[str, ...]
    """Questions about the same thing that nothing of what the owner told answers."""
    neighbour: str
    """A question about somebody or something else that nothing answers either."""


Owner = Sequence[OwnerFact]


def read_owners(path: Path, half: str) -> list[Owner]:
    """The owners of a half of the file. Raises DataError where the file cannot be read or a line is no
    fact."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})", "name the file") from error
    found = list[OwnerFact]()
    for number, row in parse(data, path.name, "mend the line"):
        try:
            fact = OwnerFact(
                int(row["owner"]),
                str(row["half"]),
                str(row["said"]),
                tuple(map(str, row["asked"])),
                tuple(map(str, row["unknown"])),
                str(row["neighbour"]),
            )
            if len(fact.asked) != len(ASKED):
                raise ValueError(f"{len(fact.asked)} questions in place of {len(ASKED)}")
        except (KeyError, TypeError, ValueError) as error:
            what = f"{path.name}:{number}: no fact ({error})"
            raise DataError(what, "mend the line") from error
        if fact.half == half:
            found.append(fact)
    return [tuple(facts) for _, facts in groupby(found, lambda fact: fact.owner)]


def told_pairs(owners: Sequence[Owner], rng: random.Random) -> Iterator[Pair]:
    """ASKINGS pairs for each fact. A fact is known as its owner told it, or, as a lesson is, by its first
    question, alone or with what was told. The pairs of other owners may be as right (`twins`), since all
    relations are the same."""
    for number, facts in enumerate(owners):
        for fact in facts:
            for asked in rng.sample(fact.asked, ASKINGS):
                yield Pair(asked, _known(fact, asked, rng), "", number)


def traps(owners: Sequence[Owner], rng: random.Random) -> Iterator[Stranger]:
    """Of each fact one question about the same and one about somebody else, to which nothing is the
    answer."""
    for number, facts in enumerate(owners):
        for fact in facts:
            for text in (rng.choice(fact.unknown), fact.neighbour):
                yield Stranger(text, number)


def _known(fact: OwnerFact, asked: str, rng: random.Random) -> str:
    place, first = rng.random(), fact.asked[0]
    if asked != first and place < QUESTION_ALONE:
        return first
    if place < QUESTION_ALONE + WITH_QUESTION:
        return question_and_answer(first, fact.said)
    return fact.said
