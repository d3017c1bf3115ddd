"""Changes of earlier lessons from the list of lessons, and what the open conversation shows of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.journal.lesson_list import taught, taught_ids
from tests.talk import Start, Talk, said
from tests.vidya_tui.session.test_session_reasons import carried_over
from vidya_tui.controller.edits import Edits


def test_taking_back_what_was_taught_again_brings_no_answer_of_the_models(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    edits = Edits(talk.session, talk.book_path)

    def take_back() -> None:
        edits.withdraw(taught(talk.journal, [talk.last_lesson().id])[0])

    talk.session.say("Who am I?")
    talk.session.correct("You are Max.")
    assert talk.last_lesson().replaces == "Hello there."
    first = talk.last_lesson().id
    take_back()
    edits.teach_again(taught(talk.journal, [first])[0])
    assert talk.book == [("Who am I?", "You are Max.")]
    take_back()
    assert talk.book == []
    talk.journal.close()


def test_a_replaced_lesson_that_is_taught_again_replaces_the_later_one(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.say("Who am I?")
    talk.session.correct("You are Max.")
    talk.session.correct("You are Tom.")
    Edits(talk.session, talk.book_path).teach_again(taught(talk.journal, [1])[0])
    assert talk.last_lesson().replaces == "You are Tom."
    assert talk.book == [("Who am I?", "You are Max.")]
    talk.session.undo()
    assert talk.book == [("Who am I?", "You are Tom.")]
    talk.journal.close()


def test_a_lesson_that_was_replaced_in_other_words_has_its_line_of_the_book_once(
    tmp_path: Path,
) -> None:
    talk = Talk(tmp_path)
    lines = [("What is my job?", "You are a cook."), ("What do I work as?", "You are a pilot.")]
    for question, answer in lines:
        talk.session.say(question)
        talk.session.correct(answer)
    (old,) = taught(talk.journal, [1])
    assert old.replaced_by == 2
    Edits(talk.session, talk.book_path).teach_again(old)
    assert talk.last_lesson().replaces is None
    assert talk.book == lines
    talk.session.undo()
    assert sorted(talk.book) == sorted(lines)
    talk.journal.close()


def test_a_change_of_a_lesson_leaves_the_branch_that_is_shown(start: Start) -> None:
    talk = start()
    session = talk.session
    session.say("hello")
    session.pick(1)
    session.edit(0, "good day")
    session.pick(2)
    session.turn_to(0, -1)
    shown = session.turns
    assert shown[0].text == "hello"
    newest, first = taught(talk.journal, taught_ids(talk.journal, ""))
    edits = Edits(session, talk.book_path)
    edits.edit(newest, "Good day to you.")
    assert session.turns == shown
    edits.withdraw(newest)
    assert session.turns == shown
    edits.edit(first, "Hey!")
    assert session.turns == said("hello", "Hey!")


@pytest.mark.parametrize("first", ["edit", "teach again"])
def test_what_is_typed_over_a_carried_over_answer_stays_with_its_own_message(
    start: Start, first: str
) -> None:
    """A lesson of a reason hangs on the message that was judged, and answers another one."""
    talk = start()
    edits = Edits(talk.session, talk.book_path)
    bye = talk.session.say("bye")
    talk.session.new()
    (row,) = taught(talk.journal, [carried_over(talk).id])
    judged = talk.session.ask
    assert judged is not None
    if first == "edit":
        edits.edit(row, "See you.")
    else:
        edits.teach_again(row)
        edits.edit(taught(talk.journal, [talk.last_lesson().id])[0], "See you.")
    (row,) = taught(talk.journal, [talk.last_lesson().id])
    assert (row.ask, row.lesson.prompt, row.lesson.answer) == (judged.id, said("bye"), "See you.")
    edits.edit(row, "So long.")
    assert talk.last_lesson().prompt == said("bye")
    assert talk.journal.answer(judged.id) == "Hi!"
    lessons = {
        row[0] for row in talk.journal.rows("SELECT id FROM lessons WHERE prompt LIKE '%bye%'")
    }
    assert lessons <= set(talk.journal.to_forget(ask=bye.id).lessons)
    assert lessons <= set(talk.journal.to_forget(conversation=judged.conversation).lessons)
