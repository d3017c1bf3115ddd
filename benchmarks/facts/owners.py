"""Measures how what people told in passing is found, without any model that talks.

    python -m benchmarks.facts.owners --half unseen

Each person of owners.jsonl tells forty facts after remarks of talk_tune.jsonl; then all questions are asked.
Counted is by cosine alone (engine.encoder), and as the app finds what is said back as the surest of five
answers (learning.teacher.mentions, owners_words) where no lesson is taught. Left out: what a model writes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch

from benchmarks import DATA
from benchmarks.common.report import table
from benchmarks.facts.mention_weighing import said
from benchmarks.facts.mentions import remarks
from benchmarks.facts.offers import percent
from engine.encoder import shipped_encoder
from learning.encoder_training.owners import ASKED, Owner, OwnerFact, read_owners
from learning.teacher.mentions import Mentions
from learning.teacher.owners_words import OwnersWords
from learning.text.flaws import with_sentences
from learning.text.kinds.told import asks_or_names
from learning.text.mention import told_in

OWNERS = DATA / "owners.jsonl"
UNTOLD = ("unknown", "neighbour")


@dataclass(frozen=True)
class Found:
    """What is found for one question."""

    kind: str
    asks: bool
    """Whether it is taken for a question."""
    nearest: bool
    """Whether its fact is the nearest of the person's by cosine."""
    cosine: float
    """Of the question and its fact, -1 to 1; if no fact answers it, of the question and the nearest fact."""
    said_back: bool
    surest: bool
    """Whether the surest answer is said back."""
    right: bool
    """Whether it is the fact, surest or not; False where none answers it."""
    among: bool
    """Whether the fact is among what is said back."""


def asked_of(fact: OwnerFact) -> list[tuple[str, str]]:
    """(kind, question) of a fact."""
    untold = [*((UNTOLD[0], one) for one in fact.unknown), (UNTOLD[1], fact.neighbour)]
    return [*zip(ASKED, fact.asked, strict=True), *untold]


def of_owner(owner: Owner) -> Iterator[Found]:
    """For each question about what one person told."""
    vectors = shipped_encoder().encode([fact.said for fact in owner])
    with said([*remarks(), *(fact.said for fact in owner)]) as mentions:
        for place, fact in enumerate(owner):
            for kind, text in asked_of(fact):
                yield _found(mentions, vectors, place, fact, kind, text)


def _found(
    mentions: Mentions, vectors: torch.Tensor, place: int, fact: OwnerFact, kind: str, text: str
) -> Found:
    parts = shipped_encoder().encode(with_sentences(text))
    cosines = vectors @ parts[0]
    nearest = int(cosines.argmax())
    words = OwnersWords(
        text,
        several=True,
        find=lambda: mentions.find(text, parts),
        find_change=lambda: None,
        lesson_first=lambda: False,
        fits=lambda answer: True,
    )
    told = () if kind in UNTOLD else told_in(fact.said)
    own = [one.text in told for one in words.statements]
    return Found(
        kind,
        asks_or_names(text),
        kind not in UNTOLD and nearest == place,
        float(cosines[nearest if kind in UNTOLD else place]),
        bool(own),
        words.likely is not None,
        bool(own) and own[0],
        any(own),
    )


def chance(answered: Sequence[float], untold: Sequence[float]) -> float:
    """That a number of the first is greater than one of the second, 0 to 1; both not empty."""
    a, b = torch.tensor(answered)[:, None], torch.tensor(untold)[None, :]
    return float(((a > b).double() + (a == b).double() / 2).mean())


def report(found: Sequence[Found]) -> str:
    """The tables, in percent."""
    rows = []
    for kind in (*dict.fromkeys(ASKED), *UNTOLD):
        own = [one for one in found if one.kind == kind]
        shares = [[one.asks for one in own], [one.nearest for one in own]]
        shares += [[one.surest and one.right for one in own], [one.among for one in own]]
        shares += [[one.surest and not one.right for one in own], [one.said_back for one in own]]
        rows.append([kind, *(percent(fmean(share)) for share in shares)])
    head = ("asked", "taken for a question", "nearest", "surest, right", "among", "surest, wrong")
    near = {kind: [x.cosine for x in found if x.kind == kind] for kind in (*ASKED, *UNTOLD)}
    asked = [cosine for kind in dict.fromkeys(ASKED) for cosine in near[kind]]
    chances = ", ".join(f"{kind} {percent(chance(asked, near[kind]))}" for kind in UNTOLD)
    return f"{table((*head, 'said back'), rows)}\nNearer than one that nothing answers: {chances}"


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts.owners")
    parser.add_argument("--half", choices=("tune", "unseen"), default="tune")
    parser.add_argument("--owners", type=int, default=None, help="so many people (all)")
    chosen = parser.parse_args(words)
    owners = read_owners(OWNERS, chosen.half)[: chosen.owners]
    print(f"{chosen.half} half, {len(owners)} people")
    print(report([one for owner in owners for one in of_owner(owner)]))


if __name__ == "__main__":
    main()
