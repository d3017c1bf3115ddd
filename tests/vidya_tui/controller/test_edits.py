"""Changes of earlier lessons, and what the open conversation shows of them."""

from __future__ import annotations

from learning.journal.lesson_list import taught, taught_ids
from tests.talk import Start, said
from vidya_tui.controller.edits import Edits


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
