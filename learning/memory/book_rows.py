"""Turns the entries of Vidya's book and the owner's book into examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, after_question, excess, from_turns
from personality.book import BookEntry, BookError, EmptyBookError, shipped_book_path
from personality.parsed import ParsedBooks


def book_paths(owner_book: Path) -> list[Path]:
    """The shipped book, then the owner's, whose lines override the shipped ones."""
    return [shipped_book_path(), owner_book]


class UnreadableBook(DataError):
    """A book with a bad line, or one that cannot be read. Nothing is learned before it is mended."""


@dataclass(frozen=True)
class BookRow:
    """An entry of a book as an example."""

    place: str
    """File name and line, as in "book.txt:12"."""
    entry: BookEntry
    example: Example
    whole: bool
    """Whether the whole entry fits into the model's context; if not, it is not learned."""


def book_rows(
    tokenizer: Tokenizer,
    paths: Iterable[Path],
    context: int,
    skip_bad: bool = False,
    books: ParsedBooks | None = None,
) -> list[BookRow]:
    """All entries of those books that exist, in order.

    context: most ids of an example. books: a cache of parsed books. Raises UnreadableBook for a bad line,
    unless `skip_bad` is set: then bad lines are left out.
    """
    books = books or ParsedBooks()
    return [row for path in paths for row in _rows_of(tokenizer, path, context, skip_bad, books)]


def latest_answers(rows: Iterable[BookRow]) -> list[Example]:
    """The examples of rows that fit, in order; of several with the same prompt only the last."""
    by_prompt: dict[str, Example] = {}
    for row in rows:
        if row.whole:
            by_prompt.pop(row.example.prompt, None)
            by_prompt[row.example.prompt] = row.example
    return list(by_prompt.values())


def book_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """`latest_answers` of the books' rows. Raises DataError as `book_rows` does."""
    return latest_answers(book_rows(tokenizer, paths, context, skip_bad))


def own_words(tokenizer: Tokenizer, paths: Sequence[Path], context: int) -> list[Example]:
    """Conversations in a base's own words, in the book's format, without the id that ends an answer among
    the targets: where the base would go on at length, whoever is held near it may stop. Files that do not
    exist count as empty. Raises DataError as `book_rows` does."""
    rows = book_examples(tokenizer, paths, context)
    return [replace(row, target=(*row.target[:-1], False)) for row in rows]


def _rows_of(
    tokenizer: Tokenizer, path: Path, context: int, skip_bad: bool, books: ParsedBooks
) -> Iterator[BookRow]:
    for entry in _entries(path, skip_bad, books):
        example = from_turns(tokenizer, entry.turns, context)
        whole = _whole(tokenizer, entry, example, context)
        yield BookRow(f"{path.name}:{entry.line}", entry, example, whole)


def _whole(tokenizer: Tokenizer, entry: BookEntry, example: Example, context: int) -> bool:
    """Whether the example was not cut and no answer is longer than half of the context."""
    if len(example.ids) <= context // 2:
        return True
    answers = (text for role, text in entry.turns if role == "assistant")
    fit = not any(excess(tokenizer, text, context) for text in answers)
    return fit and example.ids[-1] == tokenizer.chat.end


def _entries(path: Path, skip_bad: bool, books: ParsedBooks) -> Sequence[BookEntry]:
    """The book's entries; empty if it does not exist or has none."""
    if not path.exists():
        return ()
    try:
        return books.entries(path, skip_bad)
    except EmptyBookError:
        return ()
    except BookError as error:
        what = str(error).splitlines()[0]
        raise UnreadableBook(what, "mend the book, then try again") from error


def careless_examples(tokenizer: Tokenizer, rows: Iterable[BookRow], context: int) -> list[Example]:
    """For each row with one question and one answer: the answer after the question in lower case, without its
    final punctuation, and both. Wordings that equal the question are left out."""
    found: dict[tuple[int, ...], Example] = {}
    for row in rows:
        (_, question), *rest = row.entry.turns
        if len(rest) == 1:
            bare = question.rstrip("?!. ")
            for text in dict.fromkeys((question.lower(), bare, bare.lower())):
                if text in ("", question):
                    continue
                example = after_question(tokenizer, text, row.example, context)
                found[example.ids] = example
    return list(found.values())
