"""learning.journal.judgements: judgements, their answers and their lessons."""

from __future__ import annotations

import pytest

from engine.errors import JournalError, NotFound
from learning.journal.journal import Journal
from learning.protocol.records import Candidate, Correction, Lesson, Pick, Rating
from tests.learning.journal.test_journal import ask, lesson


def test_the_newest_judgement_with_a_text_is_the_answer(journal: Journal) -> None:
    first = ask(journal)
    assert journal.answer(first.id) is None
    journal.judge(Pick(first.id, 2), "two", [lesson("two")])
    assert journal.answer(first.id) == "two"
    journal.judge(Correction(first.id, "three", 2), "three", [lesson("three", kind="correction")])
    assert journal.answer(first.id) == "three"
    journal.judge(Rating(first.id, "good"), "three", [lesson("three", kind="rating")])
    assert journal.answer(first.id) == "three"
    assert [(j.judgement, j.answer, j.stands) for j in journal.judgements(first.id)] == [
        (Pick(first.id, 2), "two", True),
        (Correction(first.id, "three", 2), "three", True),
        (Rating(first.id, "good"), "three", True),
    ]


def test_a_judgement_brings_its_lessons_with_their_numbers(journal: Journal) -> None:
    first = ask(journal)
    number = journal.judge(
        Correction(first.id, "b", None),
        "b",
        [Lesson("correction", first.turns, "b", ("a",), 0.75, replaces="a")],
    )
    (stored,) = journal.lessons_of(number)
    assert stored == Lesson(
        "correction", first.turns, "b", ("a",), 0.75, stored.id, number, "waiting", "a"
    )
    assert journal.lesson(stored.id) == stored
    assert journal.waiting() == [stored]


def test_taking_back_brings_the_earlier_answer_forth(journal: Journal) -> None:
    first = ask(journal)
    pick = journal.judge(Pick(first.id, 1), "one", [lesson("one")])
    typed = journal.judge(Correction(first.id, "two"), "two", [lesson("two", kind="correction")])
    journal.withdraw(typed)
    journal.withdraw(typed)  # twice is once
    assert journal.answer(first.id) == "one"
    # the other way: the teacher marks the lesson undone
    (taught,) = journal.lessons_of(pick)
    journal.set_lesson_state(taught.id, "undone")
    assert journal.answer(first.id) is None
    assert [judged.stands for judged in journal.judgements(first.id)] == [False, False]
    with pytest.raises(NotFound, match="judgement 99"):
        journal.withdraw(99)


def test_a_new_judgement_takes_others_back_in_the_same_breath(journal: Journal) -> None:
    first = ask(journal)
    old = journal.judge(Pick(first.id, 1), "one", [lesson("one")])
    journal.judge(Pick(first.id, 2), "two", [lesson("two")], withdraws=[old])
    assert [judged.stands for judged in journal.judgements(first.id)] == [False, True]
    assert [left.answer for left in journal.to_undo()] == ["one"]
    assert [left.answer for left in journal.waiting()] == ["two"]
    last = journal.last_lesson()
    assert last is not None
    assert last.answer == "two"


def test_a_judgement_that_fails_leaves_nothing_of_itself(journal: Journal) -> None:
    first = ask(journal)
    old = journal.judge(Pick(first.id, 1), "one", [lesson("one")])
    with pytest.raises(JournalError):
        journal.judge(
            Pick(first.id, 2), "two", [lesson("two"), lesson(weight=None)], withdraws=[old]
        )
    assert journal.answer(first.id) == "one"
    assert len(journal.judgements(first.id)) == 1
    assert [left.answer for left in journal.lessons()] == ["one"]
    assert journal.to_undo() == []
    with pytest.raises(NotFound, match="ask 99"):
        journal.judge(Pick(99, 1), "x")


def test_a_rating_is_the_answer_only_where_there_is_none(journal: Journal) -> None:
    first = ask(journal)
    journal.judge(Rating(first.id, "good"), "plain", [lesson("plain", kind="rating")])
    assert journal.answer(first.id) == "plain"
    second = ask(journal)
    journal.set_answer(second.id, "went on")
    journal.judge(Rating(second.id, "bad"), "went on")
    assert journal.answer(second.id) == "went on"


def test_an_answer_may_come_without_a_judgement(journal: Journal) -> None:
    first = ask(journal)
    weak = Lesson("continuation", first.turns, "hm", weight=0.1)
    journal.set_answer(first.id, "hm", [weak])
    assert journal.answer(first.id) == "hm"
    assert journal.judgements(first.id) == []
    assert [rider.kind for rider in journal.riders()] == ["continuation"]
    assert journal.waiting() == []
    with pytest.raises(NotFound):
        journal.set_answer(99, "x")


def test_an_early_pick_lacks_its_lesson_until_it_is_completed(journal: Journal) -> None:
    first = ask(journal)
    number = journal.judge(Pick(first.id, 2), "Hel")
    assert [judged.id for judged in journal.judgements_without_lessons()] == [number]
    (taught,) = journal.complete(number, "Hello there.", [lesson("Hello there.")])
    assert taught.judgement == number
    assert journal.answer(first.id) == "Hello there."
    assert journal.judgements_without_lessons() == []
    with pytest.raises(NotFound):
        journal.complete(99, "x", [])


def test_only_judgements_that_still_count_lack_lessons(journal: Journal) -> None:
    first, second, third = ask(journal), ask(journal), ask(journal)
    journal.judge(Pick(first.id, 1), "superseded")
    newest = journal.judge(Pick(first.id, 2), "kept")
    withdrawn = journal.judge(Pick(second.id, 1), "withdrawn")
    journal.withdraw(withdrawn)
    journal.judge(Rating(third.id, None), "a rating taken back teaches nothing")
    rated = journal.judge(Rating(first.id, "bad"), "kept")
    assert [judged.id for judged in journal.judgements_without_lessons()] == [newest, rated]


def test_picks_that_stand_are_counted_for_the_progress(journal: Journal) -> None:
    first, second, third = ask(journal), ask(journal), ask(journal)
    for ask_id, logprobs in ((first.id, (-0.5, -0.1, -0.3)), (second.id, (-0.2, -0.4, -0.1))):
        journal.add_candidates(
            Candidate(ask_id, number, f"text {number}", (1, 2), (logprob, logprob), "end", 1)
            for number, logprob in enumerate(logprobs, 1)
        )
    fourth = ask(journal)
    journal.add_candidates(
        Candidate(
            fourth.id, number, f"text {number}", (1, 2), (-0.1, -0.1 * number), "end", 1, sure
        )
        for number, sure in enumerate((0.2, None, 0.6), 1)
    )
    journal.judge(Pick(first.id, 1), "a")
    journal.withdraw(journal.judge(Pick(second.id, 3), "b"))
    journal.judge(Pick(second.id, 1), "c")
    journal.judge(Pick(third.id, 1), "of which nothing is kept")
    journal.judge(Pick(first.id, 2), "the surest")
    firsts = [first for _, first in journal.first_picked()]
    assert firsts == [False, False, True, True]
    journal.judge(Pick(fourth.id, 3), "less likely, and surer as a whole")
    assert [first for _, first in journal.first_picked()][-1]
