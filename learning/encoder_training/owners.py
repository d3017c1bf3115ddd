"""What people told in passing. Each fact has questions that its owner may ask weeks later.

    owners = read_owners(Path("benchmarks/data/owners.jsonl"), "tune")
    found, others = list(told_pairs(owners[:2], rng)), list(traps(owners[:2], rng))

One line a fact, the facts of an owner together. Of one owner's statements one alone answers a question, and
none answers what is asked in `unknown` and `neighbour`. Left out: the loss (learning.maths.contrast).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import DataError
from learning.data.json_lines import parse
from learning.encoder_training.pairs import QUESTION_ALONE, Pair, Stranger
from learning.text.context import question_and_answer

ASKED = ("plain", "other", "other", "far", "careless")
"""How the questions of a fact ask: in nearly its words, twice in other words, with few words in common,
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
    """The owners of a half of the file, at least one. Raises DataError where the file cannot be read, a line
    is no fact, or there is no such owner."""
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"{path}: cannot be read ({error.strerror})"
        raise DataError(what, "name a file like benchmarks/data/owners.jsonl") from error
    found = dict[int, list[OwnerFact]]()
    for number, row in parse(data, path.name, "mend the line"):
        try:
            fact = _fact(row)
        except (KeyError, TypeError, ValueError) as error:
            what = f"{path.name}:{number}: no fact ({error})"
            raise DataError(what, "mend the line") from error
        if fact.half == half:
            found.setdefault(fact.owner, []).append(fact)
    if not found:
        what = f"{path.name}: has no owner of the half {half!r}"
        raise DataError(what, "name a file like benchmarks/data/owners.jsonl")
    return [tuple(facts) for facts in found.values()]


def _fact(row: dict[str, Any]) -> OwnerFact:
    """Raises KeyError, TypeError and ValueError for what is none."""
    asked, unknown = ([*map(str, _listed(row, name))] for name in ("asked", "unknown"))
    if len(asked) != len(ASKED) or not unknown:
        raise ValueError(
            f"`asked` has {len(asked)} in place of {len(ASKED)}, `unknown` {len(unknown)}"
        )
    said, neighbour = str(row["said"]), str(row["neighbour"])
    return OwnerFact(
        int(row["owner"]), str(row["half"]), said, tuple(asked), tuple(unknown), neighbour
    )


def _listed(row: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(row[name], list):
        raise TypeError(f"`{name}` is no list")
    return row[name]


def told_pairs(owners: Sequence[Owner], rng: random.Random) -> Iterator[Pair]:
    """ASKINGS pairs for each fact, with one text for what is known, so that each is as right for the other's
    question (`twins`). A fact is known as its owner told it, or, as a lesson is, by its first question, alone
    or with what was told. The pairs of other owners may be as right too, since all relations are the same."""
    for number, facts in enumerate(owners):
        for fact in facts:
            known = _known(fact, rng)
            others = [text for text in fact.asked if text != known]
            for asked in rng.sample(others, ASKINGS):
                yield Pair(asked, known, "", number)


def traps(owners: Sequence[Owner], rng: random.Random) -> Iterator[Stranger]:
    """Of each fact one question about the same and one about somebody else, to which nothing is the
    answer."""
    for number, facts in enumerate(owners):
        for fact in facts:
            for text in (rng.choice(fact.unknown), fact.neighbour):
                yield Stranger(text, number)


def _known(fact: OwnerFact, rng: random.Random) -> str:
    place, first = rng.random(), fact.asked[0]
    if place < QUESTION_ALONE:
        return first
    if place < QUESTION_ALONE + WITH_QUESTION:
        return question_and_answer(first, fact.said)
    return fact.said
