"""What the owner's book says after lessons of a file were taken back, in whatever order."""

from __future__ import annotations

import pytest

from learning.home import Home
from learning.records import Lesson
from tests.talk import Start, Talk, said
from vidya_tui.cli_common import Desk
from vidya_tui.cli_teach import _teach

QUESTION = "Where do I live?"


def teach(talk: Talk, *answers: str) -> list[Lesson]:
    """One after another, as `vidya teach --file` does."""
    desk = Desk(Home(talk.book_path.parent), talk.journal)
    for answer in answers:
        _teach(desk, Lesson("example", said(QUESTION), answer))
    return talk.journal.lessons()


@pytest.mark.parametrize(
    ("answers", "taken_back", "left"),
    [
        (["Rome.", "Oslo."], [2], "Rome."),
        (["Rome.", "Oslo."], [2, 1], None),
        (["Rome.", "Oslo."], [1, 2], None),  # Rome was taken back: it does not come again
        (["Rome.", "Oslo.", "Bern."], [2], "Bern."),  # nor over what was taught since
        (["Rome.", "Oslo.", "Bern."], [3, 2], "Rome."),
        (["Rome.", "Rome."], [2], "Rome."),  # the first lesson stands
        (["Rome.", "Rome."], [1, 2], None),
    ],
)
def test_what_stands_is_what_was_not_taken_back(
    start: Start, answers: list[str], taken_back: list[int], left: str | None
) -> None:
    talk = start()
    lessons = teach(talk, *answers)
    for number in taken_back:
        talk.session.take_back(lessons[number - 1])
    assert talk.book == ([(QUESTION, left)] if left else [])


def test_a_line_that_the_owner_wrote_stands_again(start: Start) -> None:
    talk = start()
    talk.book_path.write_text(f"<|user|> {QUESTION} <|assistant|> Rome.\n", "utf-8")
    (lesson,) = teach(talk, "Oslo.")
    assert talk.book == [(QUESTION, "Oslo.")]
    talk.session.take_back(lesson)
    assert talk.book == [(QUESTION, "Rome.")]


def test_each_of_two_conversations_has_a_line_of_its_own(start: Start) -> None:
    talk = start()
    for _ in range(2):
        talk.session.new()
        talk.session.say("hello")
        talk.session.pick(2)
    talk.session.new()
    first, second = talk.journal.lessons(kinds=("pick",))
    talk.session.take_back(first)
    assert talk.book == [("hello", "Good day.")]
    talk.session.take_back(second)
    assert talk.book == []
