"""What the owner taught, listed; and lessons that are taken back without a judgement."""

from __future__ import annotations

import pytest

from engine.config import Sampling
from engine.errors import NotFound
from learning.channels import (
    learn_again,
    learn_from_book,
    learn_from_correction,
    learn_from_removal,
)
from learning.journal.journal import Journal
from learning.journal.lesson_list import taught, taught_ids
from learning.protocol.records import Correction, Lesson, Turn, Turns
from learning.protocol.requests import Probe


def asked(text: str) -> Turns:
    return (Turn("user", text),)


def example(question: str, answer: str) -> Lesson:
    return Lesson("example", asked(question), answer)


def test_newest_first_with_state_search_and_what_replaced_them(journal: Journal) -> None:
    ask = journal.add_ask(journal.new_conversation(), asked('say "hé"'), Sampling())
    typed = learn_from_correction(ask, "Blue, like the sky.", "Red")
    journal.judge(Correction(ask.id, "Blue, like the sky."), "Blue, like the sky.", (typed,))
    journal.add_lessons(
        [
            example("What?", "Old answer."),
            example("What?", "New answer."),
            Lesson("owner_words", (), "hello"),
            Lesson("rating", asked("Who?"), "", ("Nobody.",)),
        ]
    )
    journal.set_lesson_state(2, "learned")
    assert taught_ids(journal) == [5, 4, 3, 2, 1]
    assert taught_ids(journal, show="judged") == [5, 3, 2, 1]
    assert taught_ids(journal, show="unjudged") == [4]
    assert taught_ids(journal, show="learned") == [2]
    assert taught_ids(journal, show="waiting") == [5, 4, 3, 1]
    assert taught_ids(journal, "nobody") == [5]
    assert taught_ids(journal, 'SKY "hé"') == [1]
    assert taught_ids(journal, "red") == [1]
    by_number = {one.lesson.id: one for one in taught(journal, taught_ids(journal))}
    assert by_number[2].replaced_by == 3
    assert by_number[3].replaced_by is None
    assert (by_number[1].ask, by_number[2].ask) == (ask.id, None)
    assert by_number[2].state == "learned"
    assert by_number[2].since >= by_number[2].created
    assert by_number[3].probe == Probe(asked("What?"), "New answer.")
    assert by_number[5].probe == Probe(asked("Who?"), "", ("Nobody.",))
    assert [one.lesson.id for one in taught(journal, [3, 99, 1])] == [3, 1]


def test_a_lesson_of_no_judgement_is_taken_back_in_the_journal_first(journal: Journal) -> None:
    one, two = journal.add_lessons([example("a?", "A."), example("b?", "B.")])
    journal.set_lesson_state(one.id, "learned")
    journal.retract(one.id)
    journal.retract(one.id)
    assert [lesson.id for lesson in journal.to_undo()] == [one.id]
    journal.retract(two.id)
    assert journal.waiting() == []
    assert journal.last_lesson() is None
    assert taught_ids(journal, show="taken_back") == [two.id, one.id]
    journal.set_lesson_state(one.id, "undone")
    assert [lesson.id for lesson in journal.to_undo()] == [two.id]
    (again,) = journal.add_lessons([learn_again(journal.lesson(one.id))])
    assert again.id == 3
    assert [lesson.id for lesson in journal.waiting()] == [3]
    with pytest.raises(NotFound):
        journal.retract(99)
    journal.forget(lesson=two.id)
    assert journal.row("SELECT count(*) FROM retractions") == (1,)


def test_changes_of_the_book_are_lessons() -> None:
    turns = asked("Who?")
    assert learn_from_book(turns, "Me.") == Lesson("example", turns, "Me.")
    changed = learn_from_book(turns, "Me.", "You.")
    assert changed == Lesson("correction", turns, "Me.", ("You.",), replaces="You.")
    assert learn_from_book(turns, "Me.", "Me.") == Lesson("example", turns, "Me.")
    assert learn_from_removal(turns, "You.") == Lesson(
        "example", turns, "", ("You.",), replaces="You."
    )


def test_a_lesson_changed_in_other_words_is_replaced_until_the_change_is_taken_back(
    journal: Journal,
) -> None:
    journal.add_lessons(
        [
            example("What is my dog called?", "Your dog is called Rex."),
            example("What's my dog's name?", "Your dog's name is Max."),
        ]
    )
    assert [one.replaced_by for one in taught(journal, [1, 2])] == [2, None]
    journal.retract(2)
    assert [one.replaced_by for one in taught(journal, [1, 2])] == [None, None]


def test_what_is_taught_once_more_after_a_change_in_other_words_replaces_that(
    journal: Journal,
) -> None:
    first, second = "What is my dog called?", "What's my dog's name?"
    journal.add_lessons([example(first, "Rex."), example(second, "Max.")])
    assert [one.replaced_by for one in taught(journal, [2])] == [None]
    assert [one.replaced_by for one in taught(journal, [1, 2])] == [2, None]
    journal.add_lessons([example(first, "Rex.")])
    assert [one.replaced_by for one in taught(journal, [2, 3])] == [3, None]
    assert [one.replaced_by for one in taught(journal, [1])] == [None], "lesson 3 says the same"
