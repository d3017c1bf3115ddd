"""learning.book.check: both books as one list, with duplicates and contradictions."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DataError
from learning.book.check import BookLine, read_books, select, standing
from learning.book.owner_book import OwnerBook

SHIPPED = """# Vidya's
<|user|> hello <|assistant|> Hello!
<|user|> Who are you? <|assistant|> I am Vidya.
"""
OWN = """# My book.

<|user|> who are you <|assistant|> I am yours.
<|user|> My dog? <|assistant|> Rufus.
no line of a book
<|user|> my dog <|assistant|> rufus!
<|user|> My cat? <|assistant|> Minka.

<|user|> My cat? <|assistant|> Tom.
<|user|> Hi <|assistant|> Yes? <|user|> My cat? <|assistant|> In talk.
"""


@pytest.fixture
def books(tmp_path: Path) -> tuple[Path, Path]:
    shipped, own = tmp_path / "shipped.txt", tmp_path / "book.txt"
    shipped.write_text(SHIPPED)
    own.write_text(OWN)
    return shipped, own


def numbers(lines: list[BookLine]) -> list[int]:
    return [line.line for line in lines]


def test_what_counts_is_the_owners_word_and_the_last_of_several(books: tuple[Path, Path]) -> None:
    lines = read_books(*books)
    assert [(line.own, line.line) for line in lines if line.replaced] == [
        (False, 3),
        (True, 4),
        (True, 7),
    ]
    assert numbers(select(lines, show="twice")) == [4, 6]
    assert numbers(select(lines, show="contradictions")) == [7, 9]
    assert numbers(select(lines, show="bad")) == [5]
    assert numbers(select(lines, show="shipped")) == [2, 3]
    assert numbers(select(lines, show="own")) == [3, 4, 5, 6, 7, 9, 10]
    bad = select(lines, show="bad")[0]
    assert (bad.question, bad.probe) == ("no line of a book", None)
    assert "<|user|>" in bad.problem
    kept = standing(lines, (("user", "MY CAT"),))
    assert kept is not None and kept.answer == "Tom."
    assert kept.probe is not None and kept.probe.answer == "Tom."
    assert lines[1].probe is None, "the owner's line replaces it"


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("<|user|> my  cat <|assistant|> Tom. <|user|> and <|assistant|> so on", ("and", "so on")),
        ("<|user|> half", ("half", "")),
        ("half <|assistant|>  an answer", ("half", "an answer")),
        ("<|user|> a <|user|> b <|assistant|> c <|end|> d", ("a b", "c d")),
        ("no line of a book", ("no line of a book", "")),
    ],
)
def test_an_edit_begins_without_markers(tmp_path: Path, line: str, begun: tuple[str, str]) -> None:
    (tmp_path / "book.txt").write_text(line)
    assert [row.begun for row in read_books(tmp_path / "book.txt", None)] == [begun]


def test_words_are_found_folded_in_any_order(books: tuple[Path, Path]) -> None:
    lines = read_books(*books)
    assert numbers(select(lines, "RUFUS dog")) == [4, 6]
    assert numbers(select(lines, "i am", "own")) == [3]
    assert numbers(select(lines, "<|")) == [2, 3, 3, 4, 6, 7, 9, 10]
    assert select(lines, "nothing") == []


def test_a_missing_book_has_no_lines_and_what_is_no_text_can_be_shown(tmp_path: Path) -> None:
    shipped, own = tmp_path / "s.txt", tmp_path / "o.txt"
    shipped.write_text(SHIPPED)
    assert len(read_books(shipped, own)) == 2
    own.write_bytes(b"\xff\xfe broken\n<|user|> a <|assistant|> b\x1b[31m\n")
    assert len(select(read_books(shipped, own), show="bad")) == 2


def test_one_line_is_rewritten_and_every_other_byte_stays(books: tuple[Path, Path]) -> None:
    book = OwnerBook(books[1])
    data = books[1].read_bytes() + b"\xff\r\n"
    books[1].write_bytes(data)
    old = "<|user|> My dog? <|assistant|> Rufus."
    book.rewrite(4, old, "<|user|> My dog? <|assistant|> Rex.")
    assert books[1].read_bytes() == data.replace(b"Rufus.", b"Rex.")
    book.rewrite(5, "no line of a book", None)
    assert books[1].read_bytes() == data.replace(b"Rufus.", b"Rex.").replace(
        b"no line of a book\n", b""
    )
    for number in (0, 4, 99):
        with pytest.raises(DataError, match="another program"):
            book.rewrite(number, old, None)
