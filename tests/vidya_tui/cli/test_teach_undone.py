"""What the owner's book says after lessons of a file were taken back, in whatever order."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.home import Home
from learning.protocol.records import Lesson
from tests.talk import Start, Talk, said
from vidya_tui.cli.common import LocalTeacher
from vidya_tui.cli.teach import _teach

QUESTION = "Where do I live?"


def teach(talk: Talk, *answers: str) -> list[Lesson]:
    """One after another, as `vidya teach --file` does."""
    local_teacher = LocalTeacher(Home(talk.book_path.parent), talk.journal)
    for answer in answers:
        _teach(local_teacher, Lesson("example", said(QUESTION), answer))
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
        (["Rome.", "Oslo.", "Rome."], [3], "Oslo."),  # Oslo had replaced the first lesson's line
        (["Rome.", "Oslo.", "Rome."], [3, 2], "Rome."),
        (["Rome.", "Oslo.", "Rome.", "Rome."], [3], "Rome."),
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


def pick_again(talk: Talk) -> list[Lesson]:
    for _ in range(2):
        talk.session.new()
        talk.session.say("hello")
        talk.session.pick(2)
        assert talk.book == [("hello", "Good day.")]
    return talk.journal.lessons(kinds=("pick",))


def test_what_is_picked_twice_is_written_once_and_stays_until_both_are_taken_back(
    start: Start,
) -> None:
    talk = start()
    first, second = pick_again(talk)
    talk.session.new()
    talk.session.take_back(first)
    assert talk.book == [("hello", "Good day.")]
    talk.session.take_back(second)
    assert talk.book == []


@pytest.mark.parametrize("then", ["undo", "another", "bad", "correct"])
def test_the_open_exchange_leaves_a_line_that_another_lesson_needs(start: Start, then: str) -> None:
    talk = start()
    pick_again(talk)
    if then == "undo":
        talk.session.undo()
    elif then == "another":
        talk.session.pick(3)
    elif then == "correct":
        talk.session.correct("Good night.")
    else:
        talk.session.rate("bad")
    new = {"another": [("hello", "Hi!")], "correct": [("hello", "Good night.")]}.get(then, [])
    assert talk.book == [("hello", "Good day."), *new]
    if then == "bad":
        talk.session.rate(None)
        assert talk.book == [("hello", "Good day.")]


def test_what_vidyas_book_says_is_not_written_into_the_owners(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped.txt"
    shipped.write_text("<|user|> hello <|assistant|> Good day.\n", "utf-8")
    monkeypatch.setattr("personality.book.shipped_book_path", lambda: shipped)
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    assert talk.book == []
    assert talk.lessons == [("pick", "Good day.", "learned")]
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]
    talk.session.pick(2)
    assert talk.book == []
    talk.session.undo()
    assert talk.book == []


def test_after_a_restart_the_book_is_as_it_was(start: Start) -> None:
    pick_again(start())
    talk = start()
    talk.session.recover()
    assert talk.book == [("hello", "Good day.")]
    for lesson in talk.journal.lessons(kinds=("pick",)):
        talk.session.take_back(lesson)
    assert talk.book == []


def test_what_is_picked_while_it_is_written_is_written_once_too(start: Start) -> None:
    talk = start(manual=True)
    for _ in range(2):
        talk.session.new()
        talk.session.say("hello")
        talk.teacher.pump(1)
        talk.session.pick(2)
        talk.session.new()  # the rest comes while something else is open
        talk.teacher.finish()
    assert talk.book == [("hello", "Good day.")]
