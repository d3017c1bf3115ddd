"""Lines of the books as examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, excess, from_turns
from personality.book import BookEntry, BookError, EmptyBookError, read_book, shipped_book_path


def book_paths(owner_book: Path) -> list[Path]:
    """The shipped book and the owner's, whose lines count over the shipped ones."""
    return [shipped_book_path(), owner_book]


def book_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """Entries of the books that exist and are not too long; of several answers to one question the
    last stays.

    Raises DataError for a book with bad lines, unless `skip_bad`.
    """
    by_prompt: dict[str, Example] = {}
    for path in paths:
        for entry in _entries(path, skip_bad):
            example = from_turns(tokenizer, entry.turns, context)
            if not _whole(tokenizer, entry, example, context):
                continue
            by_prompt.pop(example.prompt, None)
            by_prompt[example.prompt] = example
    return list(by_prompt.values())


def too_long_entries(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[str]:
    """Where the books have entries that are too long for the model, as "book.txt:12"."""
    return [
        f"{path.name}:{entry.line}"
        for path in paths
        for entry in _entries(path, skip_bad)
        if not _whole(tokenizer, entry, from_turns(tokenizer, entry.turns, context), context)
    ]


def _whole(tokenizer: Tokenizer, entry: BookEntry, example: Example, context: int) -> bool:
    """Whether nothing of the entry was cut, and no answer is too long."""
    if len(example.ids) <= context // 2:
        return True
    answers = (text for role, text in entry.turns if role == "assistant")
    fit = not any(excess(tokenizer, text, context) for text in answers)
    return fit and example.ids[-1] == tokenizer.chat.end


def _entries(path: Path, skip_bad: bool) -> Sequence[BookEntry]:
    """None of a book that does not exist, or in which nothing is written yet."""
    if not path.exists():
        return ()
    try:
        return read_book(path, skip_bad)
    except EmptyBookError:
        return ()
    except BookError as error:
        raise DataError(str(error).splitlines()[0], "mend the line, then try again") from error


def careless_examples(
    tokenizer: Tokenizer, paths: Iterable[Path], context: int, skip_bad: bool = False
) -> list[Example]:
    """The books' single questions in small letters, without the mark at the end, and both.

    Raises DataError for a book with bad lines, unless `skip_bad`.
    """
    found: dict[tuple[int, ...], Example] = {}
    for path in paths:
        for entry in _entries(path, skip_bad):
            (_, question), *rest = entry.turns
            if len(rest) == 1:
                bare = question.rstrip("?!. ")
                for text in dict.fromkeys((question.lower(), bare, bare.lower())):
                    if text in ("", question):
                        continue
                    example = from_turns(tokenizer, [("user", text), *rest], context)
                    found[example.ids] = example
    return list(found.values())
