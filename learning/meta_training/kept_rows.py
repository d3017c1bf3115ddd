"""Rows that are the same in every step: the book, everyday talk, the base's own words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.book_rows import (
    book_examples,
    book_rows,
    careless_examples,
    latest_answers,
    own_words,
)
from learning.memory.own_talk import recall_talk
from learning.meta_training.questions import Pair
from learning.meta_training.rows import MetaRow, RowWriter
from personality.book import everyday_path, shipped_book_path

OWN_ANSWERS = "own_answers.txt"
"""In an adapter's folder: a base's own words, in the book's format."""
OWN_OF_SMALL = 40
"""Rows of own words in a small run."""
TALK = 72
"""Most ids of a row of talk in a lesson."""
GENERAL = 2_000
"""Most everyday messages with an answer."""


@dataclass
class KeptRows:
    """Rows to draw from."""

    writer: RowWriter
    book: list[MetaRow]
    careless: list[MetaRow]
    """The book's questions, carelessly typed."""
    everyday: list[MetaRow]
    own: list[MetaRow]
    """The base's own words, without the id that ends an answer."""
    talk: list[MetaRow]
    """Near these the steps of a lesson stay: what a program wrote, and own words."""
    general: list[Pair]
    """Everyday messages and their answers."""

    @classmethod
    def of(
        cls, tokenizer: Tokenizer, context: int, own: Path | None, *, most_own: int | None = None
    ) -> KeptRows:
        """Of the shipped texts, and of the base's own words in the file `own`. context: tokens. Raises
        DataError for bad lines."""
        writer = RowWriter(tokenizer)
        found = book_rows(tokenizer, [shipped_book_path()], context)
        everyday = book_examples(tokenizer, [everyday_path()], context)
        said = own_words(tokenizer, [own], context)[:most_own] if own else []
        mine = [writer.of(example) for example in said]
        talk = [writer.of(example) for example in recall_talk(tokenizer, 48, 128)]
        alone = [e for e in everyday if " / " not in e.prompt and e.said]
        return cls(
            writer,
            book=[writer.of(example) for example in latest_answers(found)],
            careless=[writer.of(e) for e in careless_examples(tokenizer, found, context)],
            everyday=[writer.of(example) for example in everyday],
            own=mine,
            talk=[r for r in [*talk, *mine] if len(r.ids) <= TALK and r.places],
            general=[(e.question, e.said) for e in alone][:GENERAL],
        )
