"""learning.book.repair: after a crash between journal and book, exactly the missing lines are added."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engine.config import Sampling
from learning.book.owner_book import OwnerBook
from learning.book.repair import mend_book
from learning.channels import learn_from_book, learn_from_removal
from learning.journal.journal import Journal
from learning.protocol.records import Correction, Lesson, Pick, Rating, Turn
from personality.book import read_book

PROMPT = (Turn("user", "hello"),)


@pytest.fixture
def book(tmp_path: Path) -> OwnerBook:
    return OwnerBook(tmp_path / "book.txt")


def entries(book: OwnerBook) -> list[tuple[str, str]]:
    return [(e.question, e.answer) for e in read_book(book.path)] if book.path.exists() else []


def pick(journal: Journal, ask: int, text: str, withdraws: tuple[int, ...] = ()) -> int:
    return journal.judge(Pick(ask, 1), text, [Lesson("pick", PROMPT, text)], withdraws)


def ask(journal: Journal) -> int:
    return journal.add_ask(journal.new_conversation(), PROMPT, Sampling()).id


def age(book: OwnerBook, seconds: float = 60.0) -> None:
    """The book was last written that long ago."""
    os.utime(book.path, (time.time() - seconds,) * 2)


def test_a_judgement_that_did_not_reach_the_book_is_added_once(
    journal: Journal, book: OwnerBook
) -> None:
    pick(journal, ask(journal), "Hi.")
    for _ in range(2):
        mend_book(book, journal)
    assert entries(book) == [("hello", "Hi.")]


def test_what_the_owner_took_out_by_hand_stays_out(journal: Journal, book: OwnerBook) -> None:
    pick(journal, ask(journal), "Hi.")
    book.path.write_text("# mine\n")
    later = time.time() + 5
    os.utime(book.path, (later, later))
    mend_book(book, journal)
    assert book.path.read_text() == "# mine\n"


def test_a_pick_that_was_changed_takes_the_place_of_the_old_one(
    journal: Journal, book: OwnerBook
) -> None:
    number = ask(journal)
    first = pick(journal, number, "Hi.")
    book.add("hello", "Hi.")
    time.sleep(0.05)
    pick(journal, number, "Good day.", (first,))
    mend_book(book, journal)
    assert entries(book) == [("hello", "Good day.")]


def test_what_was_taken_back_or_called_bad_goes_out(journal: Journal, book: OwnerBook) -> None:
    one, two = ask(journal), ask(journal)
    first = pick(journal, one, "Hi.")
    pick(journal, two, "Yes?")
    mend_book(book, journal)
    assert len(entries(book)) == 2
    time.sleep(0.05)
    journal.withdraw(first)
    journal.judge(Rating(two, "bad"), "Yes?", [Lesson("rating", PROMPT, "", ("Yes?",))])
    mend_book(book, journal)
    assert book.path.read_text().count("<|user|>") == 0


def test_a_pick_that_is_still_being_written_is_left_alone(
    journal: Journal, book: OwnerBook
) -> None:
    journal.judge(Pick(ask(journal), 1), "Hi th")
    mend_book(book, journal)
    assert not book.path.exists()


def test_a_correction_and_a_line_of_a_file_of_lessons_are_added(
    journal: Journal, book: OwnerBook
) -> None:
    number = ask(journal)
    journal.judge(Correction(number, "Hey."), "Hey.", [Lesson("correction", PROMPT, "Hey.")])
    journal.add_lessons([Lesson("example", (Turn("user", "q"),), "a")])
    mend_book(book, journal)
    assert entries(book) == [("hello", "Hey."), ("q", "a")]


def test_equal_lines_of_other_talks_stay(journal: Journal, book: OwnerBook) -> None:
    pick(journal, ask(journal), "Hi.")
    mend_book(book, journal)
    age(book, 0.5)
    time.sleep(0.05)
    number = ask(journal)
    first = pick(journal, number, "Ho.")
    pick(journal, number, "Hum.", (first,))
    mend_book(book, journal)
    assert entries(book) == [("hello", "Hi."), ("hello", "Hum.")]


def test_a_change_of_the_book_is_one_write(
    book: OwnerBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.add("hello", "Hi.")
    book.add("bye", "Farewell.")
    monkeypatch.setattr(OwnerBook, "add", None)
    monkeypatch.setattr(OwnerBook, "take_out", None)
    book.replace("hello", "Hi.", "Hey.")
    assert entries(book) == [("bye", "Farewell."), ("hello", "Hey.")]


def test_changes_made_in_the_book_reach_it_after_a_crash(journal: Journal, book: OwnerBook) -> None:
    book.add("hello", "Hi.")
    book.add("Who?", "Me.")
    book.add("gone", "Away.")
    age(book)
    journal.add_lessons(
        [
            learn_from_book(PROMPT, "Hello!", "Hi."),
            learn_from_removal((Turn("user", "Who?"),), "Me."),
            learn_from_book((Turn("user", "new"),), "Newer."),
            learn_from_book((Turn("user", "gone"),), "Away."),
        ]
    )
    journal.retract(4)
    for _ in range(2):
        mend_book(book, journal)
        age(book)
    assert entries(book) == [("hello", "Hello!"), ("new", "Newer.")]


def test_of_a_talk_and_a_change_of_the_book_the_later_answer_counts(
    journal: Journal, book: OwnerBook
) -> None:
    pick(journal, ask(journal), "Hi.")
    journal.add_lessons([learn_from_book(PROMPT, "Hello!", "Hi.")])
    pick(journal, ask(journal), "Hey.")
    mend_book(book, journal)
    assert entries(book) == [("hello", "Hello!"), ("hello", "Hey.")]


def test_what_was_taught_again_after_it_was_taken_back_stays(
    journal: Journal, book: OwnerBook
) -> None:
    for _ in range(2):
        journal.add_lessons([learn_from_book(PROMPT, "Hello!")])
    journal.retract(1)
    mend_book(book, journal)
    assert entries(book) == [("hello", "Hello!")]
