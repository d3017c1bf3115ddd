"""The rows of a lesson, and which of them each of its steps takes.

There are four styles. "few" teaches a few facts in twelve steps, "many" teaches many in sixteen. "chain"
teaches four facts at a time, with an optimizer of their own, and replays earlier ones. "paused" teaches three
at a time, and a pause follows each three, as in real use (learning.lessons.consolidate): it rehearses one
fact after another in other words, each with an optimizer of its own. Left out: the steps
(learning.meta_training.lesson).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learning.lessons.consolidate import FORMS, REVISITS
from learning.lessons.recipe import TeachSettings
from learning.meta_training.kept_rows import TALK, KeptRows
from learning.meta_training.packing import Numbers, PackedTargets, Packer
from learning.meta_training.questions import Pair
from learning.meta_training.rows import MetaRow, weighed
from learning.text.frames import Questions
from learning.text.paraphrases import Frames, asked_otherwise
from learning.text.variations import variations

STYLES = ("few", "many", "chain", "paused", "paused")
"""Styles, one of which is drawn for a lesson: two lessons of five have pauses."""
FACTS = {"few": 8, "many": 16, "chain": 16, "paused": 9, "tiny": 3}
"""Style -> most facts."""
STEPS = {"few": 12, "many": 16, "tiny": 4}
"""Style -> steps on all facts."""
CHAINED, CHAIN_STEPS = 4, 6
"""Facts of a part of a chain, and steps on it."""
PAUSED, PAUSED_STEPS = 3, 5
"""Facts that are taught before a pause, and steps on them."""
REHEARSALS, REHEARSAL_STEPS = 6, 2
"""Rehearsals in a pause of the three facts before it, and steps of each; REVISITS of earlier facts follow."""
WORDINGS, PAUSE_WORDINGS = 4, 12
"""Other wordings of a question, without and with pauses; a step takes at most TAKEN of them, a
rehearsal's FORMS. With pauses they are made as a real lesson's are, some of them in the frames of other
questions (learning.text.paraphrases)."""
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


@dataclass(frozen=True)
class _Part:
    """What a step is about."""

    facts: Sequence[int]
    """Indices of the facts."""
    number: int
    """Counted from 0, where the optimizer begins."""
    earlier: int
    """The facts before this index may be replayed, but for those of the step itself."""
    rehearsal: bool = False
    """Whether it takes more wordings of a fact, and these weigh as much as the taught question."""


def draw_style(rng: random.Random) -> str:
    """One of STYLES."""
    return rng.choice(STYLES)


def plan_lesson(
    taught: Sequence[Pair], style: str, kept: KeptRows, packer: Packer, rng: random.Random
) -> LessonPlan:
    """A lesson on these questions and answers. style: one of STYLES, or "tiny"."""
    recipe, writer = TeachSettings(), kept.writer
    rows = [writer.row(question, answer) for question, answer in taught]
    ways = [
        [writer.row(text, answer) for text in texts]
        for (_, answer), texts in zip(taught, _wordings(taught, style, kept, rng), strict=True)
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
    for part in _parts(len(taught), style, rng):
        most = FORMS if part.rehearsal else TAKEN
        other = [i for f in part.facts for i in rng.sample(spots[f], min(most, len(spots[f])))]
        before = [fact for fact in range(part.earlier) if fact not in part.facts]
        earlier = rng.sample(before, min(REPLAYED, len(before)))
        again = [*earlier, *rng.sample(book_spots, min(BOOK_TAKEN, len(book_spots)))]
        said = rng.sample(talk_spots, min(SAID_TAKEN, len(talk_spots)))
        kinds = (
            (part.facts, 1.0),
            (other, 1.0 if part.rehearsal else recipe.wordings_weight),
            (again, 1.0),
            (said, recipe.talk_weight),
        )
        found = [row for places, w in kinds for row in weighed([rows[i] for i in places], w)]
        chosen = np.array([i for places, _ in kinds for i in places], np.int64)
        steps.append(PlannedStep(chosen, part.number, packer.targets(found, width)))
    whole = packer.pack(rows, width)
    return LessonPlan(whole.ids, whole.targets.held_at, steps)


def _wordings(
    taught: Sequence[Pair], style: str, kept: KeptRows, rng: random.Random
) -> list[list[str]]:
    """Other wordings of each question."""
    if style != "paused":
        return [variations(question, WORDINGS, rng) for question, _ in taught]
    frames = Frames(Questions([*kept.asked, *(question for question, _ in taught)]))
    found = []
    for question, _ in taught:
        texts = asked_otherwise(question, frames, rng, question)
        found.append(rng.sample(texts, min(PAUSE_WORDINGS, len(texts))))
    return found


def _with_references(talk: Sequence[MetaRow]) -> list[MetaRow]:
    """The rows with the places of their references, one after the other."""
    found, at = [], 0
    for row in talk:
        found.append(row.weighing(0.0).held_at(at))
        at += len(row.places)
    return found


def _parts(facts: int, style: str, rng: random.Random) -> list[_Part]:
    """What every step is about."""
    if style == "paused":
        return [step for at in range(0, facts, PAUSED) for step in _with_pause(at, facts, rng)]
    if style != "chain":
        return [_Part(range(facts), step, 0) for step in range(STEPS[style])]
    parts = [range(i, min(i + CHAINED, facts)) for i in range(0, facts, CHAINED)]
    return [_Part(part, step, part.start) for part in parts for step in range(CHAIN_STEPS)]


def _with_pause(first: int, facts: int, rng: random.Random) -> list[_Part]:
    """The steps on the facts from `first` on, at most PAUSED, and those of the pause after them."""
    own = range(first, min(first + PAUSED, facts))
    found = [_Part(own, step, first) for step in range(PAUSED_STEPS)]
    again = [own[place % len(own)] for place in range(REHEARSALS)]
    rng.shuffle(again)
    again += rng.sample(range(first), min(REVISITS, first))
    return found + [
        _Part([fact], step, own.stop, rehearsal=True)
        for fact in again
        for step in range(REHEARSAL_STEPS)
    ]
