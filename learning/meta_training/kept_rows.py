"""Rows that are the same in every step: the book, everyday talk, the base's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import data_files, read_documents
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
CONVERSATIONS = 1_500
"""Most conversations of people. Each id to predict in them takes 96 KiB of the device's memory if the model
has 49,152 ids: its reference is a row of log-probabilities."""


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
    asked: list[str]
    """The book's questions, which serve as frames for other wordings."""
    conversations: list[MetaRow] = field(default_factory=list)
    """People's conversations: on their words the model is held near the base."""

    @classmethod
    def of(
        cls,
        tokenizer: Tokenizer,
        context: int,
        own: Path | None,
        *,
        most_own: int | None = None,
        conversations: Sequence[Path] = (),
    ) -> KeptRows:
        """Of the shipped texts, of the base's own words in the file `own`, and of people's conversations in
        files or folders (learning.data.corpus), but for the documents that are held out there.

        context: tokens. most_own: most rows of own words, and most conversations; None: all. Raises DataError
        for bad lines, and for files without a conversation.
        """
        writer = RowWriter(tokenizer)
        found = book_rows(tokenizer, [shipped_book_path()], context)
        lines = list(latest_answers(found))
        everyday = book_examples(tokenizer, [everyday_path()], context)
        said = own_words(tokenizer, [own], context)[:most_own] if own else []
        mine = [writer.of(example) for example in said]
        talk = [writer.of(example) for example in recall_talk(tokenizer, 48, 128)]
        alone = [e for e in everyday if " / " not in e.prompt and e.said]
        return cls(
            writer,
            book=[writer.of(example) for example in lines],
            careless=[writer.of(e) for e in careless_examples(tokenizer, found, context)],
            everyday=[writer.of(example) for example in everyday],
            own=mine,
            talk=[r for r in [*talk, *mine] if len(r.ids) <= TALK and r.places],
            general=[(e.question, e.said) for e in alone][:GENERAL],
            asked=list(dict.fromkeys(example.question for example in lines)),
            conversations=_conversations(writer, conversations)[:most_own],
        )


def _conversations(writer: RowWriter, paths: Sequence[Path]) -> list[MetaRow]:
    """Up to CONVERSATIONS rows, always the same ones, spread evenly over the documents of all files."""
    if not paths:
        return []
    documents = [
        document
        for path in data_files(paths)
        for document in read_documents(path)
        if document.turns and not document.held_out
    ]
    documents.sort(key=lambda document: document.lot)
    rows = (writer.talk(document) for document in documents)
    found = list(islice((row for row in rows if row.places), CONVERSATIONS))
    if not found:
        raise DataError(
            f"{', '.join(map(str, paths))}: no conversations to learn from",
            "give JSON lines with turns of user and assistant",
        )
    return found
