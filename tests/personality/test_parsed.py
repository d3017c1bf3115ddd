"""personality.parsed: a book is parsed again only when it was written again."""

from __future__ import annotations

from pathlib import Path

import pytest

import personality.parsed
from personality.book import BookEntry, BookError, read_book
from personality.parsed import ParsedBooks

GOOD, BAD = "<|user|> hi <|assistant|> Hello.\n", "<|user|> who\n"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """`skip_bad` of every time that a book was parsed."""
    made: list[bool] = []

    def counted(path: Path, skip_bad: bool = False) -> list[BookEntry]:
        made.append(skip_bad)
        return read_book(path, skip_bad)

    monkeypatch.setattr(personality.parsed, "read_book", counted)
    return made


def test_a_book_is_parsed_once_until_it_is_written_again(tmp_path: Path, reads: list[bool]) -> None:
    book, books = tmp_path / "book.txt", ParsedBooks()
    book.write_text(GOOD)
    first = books.entries(book)
    assert books.entries(book, skip_bad=True) is first
    assert reads == [False]
    book.write_text(GOOD + GOOD.replace("hi", "good morning"))
    assert len(books.entries(book)) == 2


def test_bad_lines_are_never_hidden_by_a_reading_that_skipped_them(tmp_path: Path) -> None:
    book, books = tmp_path / "book.txt", ParsedBooks()
    book.write_text(GOOD + BAD)
    for _ in range(2):
        assert len(books.entries(book, skip_bad=True)) == 1
        with pytest.raises(BookError):
            books.entries(book)


def test_a_book_that_is_gone_is_not_remembered(tmp_path: Path) -> None:
    book, books = tmp_path / "book.txt", ParsedBooks()
    book.write_text(GOOD)
    books.entries(book)
    book.unlink()
    with pytest.raises(BookError, match="no such file"):
        books.entries(book)
