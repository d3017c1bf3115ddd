"""learning.meta_training.step_rows: what a step draws."""

from __future__ import annotations

import random

import numpy as np
import pytest

from learning.lessons.consolidate import REVISITS
from learning.meta_training.kinds import HELD_OUT, held_out_kinds, trained_kinds
from learning.meta_training.plans import (
    PAUSE_WORDINGS,
    PAUSED_STEPS,
    REHEARSAL_STEPS,
    REHEARSALS,
    LessonPlan,
    plan_lesson,
)
from learning.meta_training.questions import about_somebody, two_lives
from learning.meta_training.rows import MetaRow
from learning.meta_training.step_rows import RowSource, StepRows
from learning.text import lives
from learning.text.lives import relations


def same(one: StepRows, other: StepRows) -> bool:
    def plan(found: LessonPlan) -> list[np.ndarray]:
        steps = [(s.rows, s.targets.at, s.targets.label, s.targets.weight) for s in found.steps]
        return [found.ids, found.talk_at, *(array for step in steps for array in step)]

    if one.plain != other.plain or len(one.lessons) != len(other.lessons):
        return False
    pairs = list(zip(one.lessons, other.lessons, strict=True))
    return all(a.asked == b.asked for a, b in pairs) and all(
        np.array_equal(x, y)
        for a, b in pairs
        for x, y in zip(plan(a.plan), plan(b.plan), strict=True)
    )


def test_the_same_seed_draws_the_same_rows(source: RowSource) -> None:
    first = source.step(0, 3)
    assert same(first, source.step(0, 3))
    assert not same(first, source.step(0, 4))
    assert not same(first, source.step(1, 3))


def test_held_out_kinds_are_never_trained_on(
    source: RowSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set[str]()
    filled = lives._filled

    def look(relation: lives._Relation, *rest: object) -> object:
        names.add(relation.name)
        return filled(relation, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lives, "_filled", look)
    for number in range(6):
        source.step(0, number)
    assert len(names) > 40
    assert not names & held_out_kinds()


def test_thirty_kinds_are_held_out() -> None:
    assert len(held_out_kinds()) == HELD_OUT and "relative_name" in trained_kinds()
    assert held_out_kinds() | trained_kinds() == set(relations())
    assert not held_out_kinds() & trained_kinds()
    facts, _ = two_lives(random.Random(0), 16, held_out_kinds())
    assert {fact.relation for fact in facts} <= held_out_kinds() | {"relative_name"}
    assert len(facts) == 16


@pytest.mark.parametrize(
    ("style", "steps"), [("few", 12), ("many", 16), ("chain", 18), ("tiny", 4)]
)
def test_a_lesson_has_the_steps_of_its_style(source: RowSource, style: str, steps: int) -> None:
    taught = [(f"What is number {n}?", f"It is {n}.") for n in range(9)]
    plan = plan_lesson(taught, style, source.kept, source.packer, random.Random(0))
    assert len(plan.steps) == steps
    begun = [step for step in plan.steps if step.number == 0]
    assert len(begun) == (3 if style == "chain" else 1)
    chosen = [set(step.rows.tolist()) for step in begun]
    parts = [set(range(0, 4)), set(range(4, 8)), {8}] if style == "chain" else [set(range(9))]
    assert all(part <= rows for part, rows in zip(parts, chosen, strict=True))
    for step in plan.steps:
        assert step.targets.held_reference.max() < len(plan.talk_at)
        assert step.targets.weight.sum() == pytest.approx(2.5, rel=1e-5), "1 + 0.5 + 1"
        assert step.targets.held_weight.sum() == pytest.approx(10.0, rel=1e-5)


def test_a_lesson_with_pauses_rehearses_each_fact_alone(source: RowSource) -> None:
    taught = [(f"Where is my lamp number {n}?", f"It is on shelf {n}.") for n in range(5)]
    plan = plan_lesson(taught, "paused", source.kept, source.packer, random.Random(0))
    begun = [at for at, step in enumerate(plan.steps) if step.number == 0]
    first = 1 + REHEARSALS
    assert len(begun) == first + 1 + REHEARSALS + REVISITS
    lengths = np.diff([*begun, len(plan.steps)]).tolist()
    assert lengths[0] == lengths[first] == PAUSED_STEPS
    assert set(lengths[1:first] + lengths[first + 1 :]) == {REHEARSAL_STEPS}
    rows = [[r for r in step.rows.tolist() if r < len(taught)] for step in plan.steps]
    facts = [rows[at][0] for at in begun]
    assert sorted(facts[1:first]) == [0, 0, 1, 1, 2, 2] and facts[first] == 3
    assert set(facts[-REVISITS:]) <= {0, 1, 2}, "earlier ones are visited again"
    assert all(len(set(taken)) == len(taken) for taken in rows), (
        "a fact is not replayed beside itself"
    )
    assert len(np.unique(plan.ids, axis=0)) > len(taught) * PAUSE_WORDINGS
    for at in begun[1:first]:
        words = plan.steps[at].targets
        assert words.weight.sum() == pytest.approx(3.0, rel=1e-5), "wordings weigh as the fact"


def test_all_styles_are_drawn(source: RowSource) -> None:
    whole = RowSource(source.kept, source.kinds, lessons=1, small=False)
    lengths = {len(whole.step(0, number).lessons[0].plan.steps) for number in range(8)}
    assert lengths <= {12, 16, 18, 24, 17, 38, 59} and {12, 16, 59} <= lengths


def test_rows_are_without_the_system_prompt(source: RowSource) -> None:
    start = source.kept.writer.tokenizer.chat.start
    found = source.step(0, 0)
    rows: list[MetaRow] = [*found.plain, *found.lessons[0].asked, *source.kept.book]
    assert start and not any(row.ids[: len(start)] == start for row in rows)
    assert all(row.places and min(row.places) > 0 for row in rows)


def test_a_question_about_a_relative_becomes_one_about_somebody() -> None:
    drawn = {about_somebody("Where does my sister live?", random.Random(n)) for n in range(30)}
    assert "Where does the postman live?" in drawn and "Where does my sister live?" not in drawn
    assert about_somebody("Where do I live?", random.Random(0)) == "Where do I live?"
