"""learning.book.owner_book: picks and corrections are added; removing one restores the file exactly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.errors import DataError
from learning.book.owner_book import OwnerBook
from personality.book import read_book

QUESTION = "who are you?"


def entries(path: Path) -> list[tuple[str, str]]:
    return [(entry.question, entry.answer) for entry in read_book(path)]


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    book = OwnerBook(tmp_path / "book.txt")
    assert book.add(QUESTION, "I am\n Vidya.")
    assert book.add("hello", "Hi.")
    assert entries(book.path) == [(QUESTION, "I am Vidya."), ("hello", "Hi.")]


def test_texts_a_book_cannot_hold_are_passed_over(tmp_path: Path) -> None:
    book = OwnerBook(tmp_path / "book.txt")
    assert not book.add("what is <|assistant|>?", "A marker.")
    assert not book.add("hello", "")
    assert not book.path.exists()
    assert not book.take_out("what is <|assistant|>?", "A marker.")


def test_only_the_last_line_of_that_exchange_is_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    line = b"<|user|> who are you? <|assistant|> I am Vidya."
    before = b"# mine\r\n\r\n" + line + b"\r\n\xff broken \xe4\r\n"
    after = b"<|user|> bye <|assistant|> Bye.\n"
    path.write_bytes(before + line + b"\n" + after)
    book = OwnerBook(path)
    assert book.take_out(QUESTION, "I am  Vidya.")
    assert path.read_bytes() == before + after
    assert book.take_out(QUESTION, "I am Vidya.")
    assert path.read_bytes() == before.replace(line + b"\r\n", b"") + after
    assert not book.take_out(QUESTION, "I am Vidya.")
    assert not book.take_out(QUESTION, "I am")


def test_an_answer_is_replaced_only_where_it_changed(tmp_path: Path) -> None:
    book = OwnerBook(tmp_path / "book.txt")
    book.replace(QUESTION, None, "A dog.")
    before = book.path.read_bytes()
    book.replace(QUESTION, "A dog.", "A dog.")
    assert book.path.read_bytes() == before
    book.replace(QUESTION, "A dog.", "Vidya.")
    assert entries(book.path) == [(QUESTION, "Vidya.")]
    book.replace(QUESTION, "Vidya.", None)
    assert "Vidya" not in book.path.read_text()


def test_a_book_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    book = OwnerBook(tmp_path)  # a folder
    for touch in (book.add, book.take_out):
        with pytest.raises(DataError, match="cannot be written"):
            touch(QUESTION, "Vidya.")
    assert not OwnerBook(tmp_path / "none.txt").take_out(QUESTION, "Vidya.")


def test_the_book_is_never_older_than_what_it_was_given(tmp_path: Path) -> None:
    """The journal has its times from the clock; a file system's own is some milliseconds behind."""
    book = OwnerBook(tmp_path / "book.txt")
    for number in range(30):
        began = time.time()
        book.add("hello", f"Hi {number}.")
        assert book.written() >= began
        began = time.time()
        book.replace("hello", f"Hi {number}.", f"Hello {number}.")
        assert book.written() >= began
