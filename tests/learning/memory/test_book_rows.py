"""An owner's book that holds nothing yet is fine; one that cannot be read is told, not passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.book_rows import book_examples, own_words


@pytest.mark.parametrize("content", [b"", b"# My book.\n\n"])
def test_an_owners_book_may_be_empty(
    tmp_path: Path, tiny_tokenizer: Tokenizer, content: bytes
) -> None:
    (tmp_path / "book.txt").write_bytes(content)
    assert book_examples(tiny_tokenizer, [tmp_path / "book.txt"], 128) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)), "book.txt: is not a text file"),
        (b"<|user|> hello\n", "book.txt:1: no <|assistant|>"),
        ("<|user|> h\xe4 <|assistant|> x\n".encode("latin-1"), "book.txt:1: not UTF-8"),
    ],
)
def test_a_book_that_cannot_be_read_is_named(
    tmp_path: Path, tiny_tokenizer: Tokenizer, content: bytes, words: str
) -> None:
    (tmp_path / "book.txt").write_bytes(content)
    with pytest.raises(DataError) as caught:
        book_examples(tiny_tokenizer, [tmp_path / "book.txt"], 128)
    assert words in caught.value.what


def test_a_folder_in_the_books_place_is_named(tmp_path: Path, tiny_tokenizer: Tokenizer) -> None:
    (tmp_path / "book.txt").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        book_examples(tiny_tokenizer, [tmp_path / "book.txt"], 128)


def test_the_end_of_own_words_is_not_to_be_predicted(
    tmp_path: Path, tiny_tokenizer: Tokenizer
) -> None:
    (tmp_path / "own.txt").write_text("<|user|> hello <|assistant|> Good day.\n")
    (row,) = own_words(tiny_tokenizer, [tmp_path / "own.txt"], 128)
    assert row.ids[-1] == tiny_tokenizer.chat.end and not row.target[-1]
    assert tiny_tokenizer.decode(row.answer).strip() == "Good day."
    assert own_words(tiny_tokenizer, [tmp_path / "none.txt"], 128) == []
