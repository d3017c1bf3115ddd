"""Draws the rows of one step: lessons, the questions after them, and rows for the untaught weights.

The same for the same random numbers. Left out: the rows that are the same in every step, which the feed adds.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

from learning.meta_training.kept_rows import KeptRows
from learning.meta_training.packing import Packer
from learning.meta_training.plans import FACTS, LessonPlan, draw_style, plan_lesson
from learning.meta_training.questions import asked_afterwards, recalled, two_lives, untold
from learning.meta_training.rows import MetaRow, weighed
from learning.meta_training.settings import (
    ASKED,
    CONTROL,
    CONVERSATION,
    RECALLED,
    TOLD_AGAIN,
    UNKNOWN,
)
from learning.text.lives import lives
from learning.text.lives_talk import told_and_asked

LIVES = 10
"""Lives of a step outside of its lessons."""
BOOK, EVERYDAY = 6, 8
"""Rows of these that are asked after a lesson."""


@dataclass(frozen=True)
class LessonRows:
    """A lesson, and what the taught weights are asked."""

    plan: LessonPlan
    asked: list[MetaRow]


@dataclass(frozen=True)
class StepRows:
    """What one step takes of lives."""

    lessons: list[LessonRows]
    plain: list[MetaRow]
    """For the untaught weights."""


@dataclass(frozen=True)
class RowSource:
    """Draws steps of lives of these kinds."""

    kept: KeptRows
    kinds: Collection[str]
    lessons: int
    """Lessons a step."""
    small: bool
    """Three facts a lesson, and few other rows."""

    @property
    def packer(self) -> Packer:
        return Packer(self.kept.writer.start)

    def step(self, seed: int, number: int) -> StepRows:
        """The rows of step `number`, the same for the same seed."""
        rng = random.Random(f"{seed} {number}")
        lessons = [self.lesson(rng) for _ in range(self.lessons)]
        return StepRows(lessons, self.plain(rng))

    def lesson(self, rng: random.Random) -> LessonRows:
        """A lesson, and what is asked after it."""
        kept, row = self.kept, self.kept.writer.row
        style = "tiny" if self.small else draw_style(rng)
        facts, life = two_lives(rng, FACTS[style], self.kinds)
        taught = [(fact.question, fact.answer) for fact in facts]
        plan = plan_lesson(taught, style, kept, self.packer, rng)
        rows = weighed([row(*pair) for pair in asked_afterwards(facts, life, rng)], ASKED)
        again = rng.sample(facts, len(facts) // 2) if rng.random() < 0.4 else []
        told = [
            row(*recalled(fact, [f for f in facts if f is not fact], life, kept.general, rng))
            for fact in again
        ]
        rows += weighed(told, TOLD_AGAIN)
        rows += weighed(rng.sample(kept.book, BOOK), CONTROL)
        rows += weighed(rng.sample(kept.everyday, EVERYDAY), CONTROL)
        return LessonRows(plan, rows)

    def plain(self, rng: random.Random) -> list[MetaRow]:
        """Conversations, messages with lessons before them, and questions out of nothing."""
        writer = self.kept.writer
        found = lives(LIVES, rng, self.kinds)
        talks = [writer.conversation(told_and_asked(life, rng)) for life in found[:8]]
        told = []
        for life in found[2:]:
            for fact in rng.sample(life.facts, min(4, len(life.facts))):
                others = [f for f in life.facts if f is not fact]
                told.append(writer.row(*recalled(fact, others, life, self.kept.general, rng)))
        unknown = [writer.row(*pair) for life in found[:4] for pair in untold(life, rng)]
        if self.small:
            talks, told, unknown = talks[:1], told[:3], unknown[:1]
        return [
            *weighed(talks, CONVERSATION),
            *weighed(told, RECALLED),
            *weighed(unknown, UNKNOWN),
        ]
