"""learning.journal.lessons: lessons, their states, and versions of the weights."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from engine.errors import JournalError, NotFound
from learning.journal.journal import Journal
from tests.learning.journal.test_journal import lesson


def test_lessons_are_listed_by_state_kind_and_number(journal: Journal) -> None:
    one, two, three = journal.add_lessons(
        [lesson("1", kind="example"), lesson("2", kind="owner_words"), lesson("3")]
    )
    journal.set_lesson_state(one.id, "learned")
    assert [found.id for found in journal.lessons()] == [one.id, two.id, three.id]
    assert [found.id for found in journal.lessons(state="learned")] == [one.id]
    assert [found.id for found in journal.lessons(kinds=["pick", "example"])] == [one.id, three.id]
    assert [found.id for found in journal.lessons(after=one.id)] == [two.id, three.id]
    assert journal.lessons("waiting", ["pick"], after=three.id) == []
    assert [found.id for found in journal.waiting()] == [three.id]
    assert [found.id for found in journal.riders()] == [two.id]


def test_the_time_of_a_lesson_is_known(journal: Journal) -> None:
    before = time.time()
    (one,) = journal.add_lessons([lesson()])
    assert before <= journal.taught_at(one.id) <= time.time()
    assert journal.taught_at(one.id + 1) == math.inf


def test_every_state_is_remembered_and_the_last_one_counts(journal: Journal) -> None:
    (one,) = journal.add_lessons([lesson()])
    for state in ("learned", "needs_practice", "undone", "waiting"):
        journal.set_lesson_state(one.id, state)
        assert journal.lesson(one.id).state == state
    assert [state for state, _ in journal.lesson_events(one.id)] == [
        *("waiting", "learned", "needs_practice", "undone", "waiting")
    ]
    for unknown in (journal.lesson, lambda number: journal.set_lesson_state(number, "learned")):
        with pytest.raises(NotFound, match="lesson 99"):
            unknown(99)


def test_the_last_lesson_passes_over_undone_riders_and_those_on_their_way(
    journal: Journal,
) -> None:
    assert journal.last_lesson() is None
    one, two, three, _ = journal.add_lessons(
        [lesson("1"), lesson("2"), lesson("3"), lesson("4", kind="continuation")]
    )
    journal.set_lesson_state(three.id, "undone")
    assert journal.last_lesson() == two
    assert journal.last_lesson(skip={two.id}) == one
    assert journal.last_lesson(skip={one.id, two.id}) is None


def test_weights_know_their_lessons_through_their_ancestors(journal: Journal) -> None:
    a, b, c = (one.id for one in journal.add_lessons([lesson("a"), lesson("b"), lesson("c")]))
    assert (journal.latest_version(), journal.saved_version()) == (0, 0)
    journal.add_publication(1, 0, (a,))
    journal.add_publication(2, 1, (b,), path="snapshots/2", note="b")
    journal.add_publication(3, 1, (c,))  # b was taken back: made from 1 again
    assert journal.latest_version() == 3
    assert journal.lessons_in(2) == {a, b}
    assert journal.lessons_in(3) == {a, c}
    assert journal.lessons_in(0) == frozenset()
    with pytest.raises(JournalError):
        journal.add_publication(3, 1, ())


def test_after_a_crash_published_lessons_that_were_not_saved_are_learned_again(
    journal: Journal,
) -> None:
    saved, lost, gone, waits = journal.add_lessons([lesson(text) for text in "abcd"])
    for number, learned in enumerate((saved, lost, gone), start=1):
        journal.add_publication(number, number - 1, (learned.id,))
        journal.set_lesson_state(learned.id, "learned")
    journal.mark_saved(1)
    assert [one.id for one in journal.lessons_not_saved()] == [lost.id, gone.id]
    for state in ("needs_practice", "undone"):  # rolled back on purpose, or taken back
        journal.set_lesson_state(gone.id, state)
        assert [one.id for one in journal.lessons_not_saved()] == [lost.id]
    # the start loads version 1 and learns it again
    journal.add_publication(4, 1, (lost.id,))
    journal.mark_saved(4)
    assert journal.lessons_not_saved() == []
    assert [one.id for one in journal.waiting()] == [waits.id]


def test_steps_and_measures_are_kept_for_the_progress(journal: Journal) -> None:
    (one,) = journal.add_lessons([lesson()])
    journal.add_step([one.id, 99], 2.5, 32, 0.1, "lesson")
    journal.add_step([], float("nan"), 32, 0.1, "book")
    journal.add_step([], 1.5, 32, 0.1, "book")
    assert [value for _, value in journal.measures("loss")] == [2.5, 1.5]
    assert journal.rows("SELECT step, lesson FROM step_lessons") == [(1, one.id)]
    journal.add_measure("book_recall", 0.5)
    journal.add_measure("book_recall", float("inf"))
    assert [value for _, value in journal.measures("book_recall")] == [0.5]


def test_lessons_that_a_model_learned_since_are_counted(journal: Journal, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    one, two, three = journal.add_lessons([lesson("1"), lesson("2"), lesson("3")])
    assert not journal.has_published(mine)
    journal.add_publication(1, 0, [one.id, two.id], str(mine / "model.safetensors"))
    journal.add_publication(2, 0, [three.id], str(other / "model.safetensors"))
    assert journal.has_published(mine) and journal.has_published(tmp_path / "moved" / "other")
    assert not journal.has_published(tmp_path / "third")
    now = time.time()
    found = [journal.learned_since(folder, now - 60) for folder in (mine, other)]
    assert found == [2, 1] and journal.learned_since(mine, now + 60) == 0
    assert journal.learned_since(mine, float("inf")) == 0
