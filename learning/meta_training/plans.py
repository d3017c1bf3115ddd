"""The rows of a lesson, and which of them each of its steps takes.

Three styles: a few facts in twelve steps, many in sixteen, or many in a chain, four at a time, each four with
an optimizer of their own and earlier ones replayed. Left out: the steps (learning.meta_training.lesson).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learning.lessons.recipe import TeachSettings
from learning.meta_training.kept_rows import TALK, KeptRows
from learning.meta_training.packing import Numbers, PackedTargets, Packer
from learning.meta_training.questions import Pair
from learning.meta_training.rows import MetaRow, weighed
from learning.text.variations import variations

FACTS = {"few": 8, "many": 16, "chain": 16, "tiny": 3}
"""Style -> most facts."""
STEPS = {"few": 12, "many": 16, "tiny": 4}
"""Style -> steps on all facts."""
CHAINED, CHAIN_STEPS = 4, 6
"""Facts of a part of a chain, and steps on it."""
WORDINGS = 4
"""Other wordings of a question, made by rules; a step takes TAKEN of them."""
TAKEN, REPLAYED = 2, 6
"""Wordings of a question, and earlier facts of a chain, in a step."""
BOOK, BOOK_TAKEN = 20, 8
"""Lines of the book of a lesson, and in a step."""
SAID, SAID_TAKEN = 10, 5
"""Rows of talk of a lesson, and in a step."""


@dataclass(frozen=True)
class PlannedStep:
    """A step of a lesson."""

    rows: Numbers
    """[C] indices of the lesson's rows that it takes."""
    number: int
    """Counted from 0, where the optimizer begins."""
    targets: PackedTargets
    """Of these rows; the references are those of `LessonPlan.talk_at`."""


@dataclass(frozen=True)
class LessonPlan:
    """A whole lesson as arrays."""

    ids: Numbers
    """[R, T] all rows."""
    talk_at: Numbers
    """[M] flat places whose outputs, before the lesson, are the reference of its talk."""
    steps: list[PlannedStep]


def draw_style(rng: random.Random) -> str:
    """One of the three styles."""
    return rng.choice(("few", "many", "chain"))


def plan_lesson(
    taught: Sequence[Pair], style: str, kept: KeptRows, packer: Packer, rng: random.Random
) -> LessonPlan:
    """A lesson on these questions and answers. style: "few", "many", "chain" or "tiny"."""
    recipe, writer = TeachSettings(), kept.writer
    rows = [writer.row(question, answer) for question, answer in taught]
    ways = [
        [writer.row(text, answer) for text in variations(question, WORDINGS, rng)]
        for question, answer in taught
    ]
    book = rng.sample(kept.book, min(BOOK, len(kept.book)))
    short = [row for row in kept.talk if len(row.ids) <= TALK]
    talk = rng.sample(short, min(SAID, len(short)))
    spots = list[range]()
    for group in ways:
        spots.append(range(len(rows), len(rows) + len(group)))
        rows += group
    book_spots = range(len(rows), len(rows) + len(book))
    rows += book
    talk_spots = range(len(rows), len(rows) + len(talk))
    rows += _with_references(talk)
    width = packer.width(rows)
    steps = []
    for part, number in _parts(len(taught), style):
        other = [i for fact in part for i in rng.sample(spots[fact], min(TAKEN, len(spots[fact])))]
        earlier = rng.sample(range(part.start), min(REPLAYED, part.start))
        again = [*earlier, *rng.sample(book_spots, min(BOOK_TAKEN, len(book_spots)))]
        said = rng.sample(talk_spots, min(SAID_TAKEN, len(talk_spots)))
        kinds = (
            (part, 1.0),
            (other, recipe.wordings_weight),
            (again, 1.0),
            (said, recipe.talk_weight),
        )
        found = [row for places, w in kinds for row in weighed([rows[i] for i in places], w)]
        chosen = np.array([i for places, _ in kinds for i in places], np.int64)
        steps.append(PlannedStep(chosen, number, packer.targets(found, width)))
    whole = packer.pack(rows, width)
    return LessonPlan(whole.ids, whole.targets.held_at, steps)


def _with_references(talk: Sequence[MetaRow]) -> list[MetaRow]:
    """The rows with the places of their references, one after the other."""
    found, at = [], 0
    for row in talk:
        found.append(row.weighing(0.0).held_at(at))
        at += len(row.places)
    return found


def _parts(facts: int, style: str) -> list[tuple[range, int]]:
    """Facts and number of every step."""
    if style != "chain":
        return [(range(facts), step) for step in range(STEPS[style])]
    parts = [range(i, min(i + CHAINED, facts)) for i in range(0, facts, CHAINED)]
    return [(part, step) for part in parts for step in range(CHAIN_STEPS)]
