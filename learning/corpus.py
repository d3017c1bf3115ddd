"""Reading conversation and text files, and packing them into rows for pre-training.

Formats: `.jsonl`, `.jsonl.zst` (a row has `turns` of role and text, or `text`; `source` names its
origin) and plain text (blank lines separate documents). Left out: a tokenised cache on disk; the
corpora this is made for are tokenised in seconds.
"""

from __future__ import annotations

import json
import random
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from engine.chat_format import encode_chat, encode_document
from engine.errors import DataError
from engine.tokenizer import Tokenizer


@dataclass(frozen=True)
class Document:
    """A conversation (turns of role and text) or a plain text."""

    source: str
    turns: tuple[tuple[str, str], ...] = ()
    text: str = ""

    @property
    def held_out(self) -> bool:
        """One conversation in 200 is never trained on; decided by its text, so always the same."""
        return zlib.crc32(repr((self.turns, self.text)).encode("utf-8", "replace")) % 200 == 0

    @property
    def bytes(self) -> int:
        return len(self.text.encode()) + sum(len(text.encode()) for _, text in self.turns)


def read_documents(path: Path) -> Iterator[Document]:
    """All documents of a file. Raises DataError with file and line for a row it cannot read."""
    try:
        with _open(path) as stream:
            if path.name.removesuffix(".zst").endswith((".jsonl", ".json")):
                for number, line in enumerate(stream, 1):
                    if line.strip():
                        yield _parse_row(line, path, number)
            else:
                yield from _plain_text(stream, path)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error})", "give UTF-8 text or .jsonl") from error


@contextmanager
def _open(path: Path) -> Iterator[IO[str]]:
    if path.suffix != ".zst":
        with path.open(encoding="utf-8") as stream:
            yield stream
        return
    try:
        import zstandard
    except ImportError:
        raise DataError(
            f"{path}: is compressed", "pip install zstandard, or decompress it"
        ) from None
    try:
        with zstandard.open(path, "rt", encoding="utf-8") as stream:
            yield stream
    except zstandard.ZstdError as error:
        raise DataError(
            f"{path}: cannot be decompressed ({error})", "give a whole .zst file"
        ) from error


def _parse_row(line: str, path: Path, number: int) -> Document:
    try:
        row: Any = json.loads(line)
        source = str(row.get("source", path.name.split(".")[0]))
        if "turns" in row:
            turns = tuple((str(t["role"]), str(t["text"])) for t in row["turns"])
            if not turns or any(role not in ("user", "assistant") for role, _ in turns):
                raise ValueError("turns must have roles user and assistant")
            return Document(source, turns)
        if not isinstance(row["text"], str):
            raise ValueError("text must be a string")
        return Document(source, text=row["text"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}:{number}: not a conversation or text ({error})",
            'a row is {"turns": [{"role", "text"}, ...]} or {"text": ...}; mend or remove the line',
        ) from error


def _plain_text(stream: IO[str], path: Path) -> Iterator[Document]:
    paragraphs: list[str] = []
    for line in stream:
        if line.strip():
            paragraphs.append(line.rstrip("\n"))
        elif paragraphs:
            yield Document(path.stem, text="\n".join(paragraphs))
            paragraphs = []
    if paragraphs:
        yield Document(path.stem, text="\n".join(paragraphs))


class TokenStream:
    """All documents of one pass, tokenised, in a deterministic random order.

    `weights` says how often a source is seen in a pass: 2 is twice, 0.5 every second document.
    Sources that are not named are seen once.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        *,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        self._seed = seed
        self._weights = dict(weights or {})
        self._ids = array("H") if tokenizer.vocab_size <= 1 << 16 else array("I")
        self._bounds = [0]
        self._sources = [document.source for document in documents]
        for document in documents:
            encoded = (
                encode_chat(tokenizer, document.turns)
                if document.turns
                else encode_document(tokenizer, document.text)
            )
            self._ids.extend(encoded.ids)
            self._bounds.append(len(self._ids))

    @property
    def tokens(self) -> int:
        """Tokens of all documents, each counted once."""
        return len(self._ids)

    def order(self, epoch: int) -> list[int]:
        """Documents of the epoch, repeated by weight, shuffled; the same for the same seed."""
        rng = random.Random(f"{self._seed}/{epoch}")
        chosen: list[int] = []
        for index, source in enumerate(self._sources):
            weight = self._weights.get(source, 1.0)
            copies = int(weight) + (rng.random() < weight % 1.0)
            chosen.extend([index] * copies)
        rng.shuffle(chosen)
        return chosen

    def rows(self, length: int, *, skip: int = 0) -> Iterator[tuple[list[int], list[int]]]:
        """Endless rows of `length` ids and the document number of each; `skip` rows are passed over.

        Documents are laid end to end and cut at row ends, so that no position is padding.
        """
        # a pass may be empty by chance where weights are below 1; only no weight at all is an error
        if not any(self._weights.get(source, 1.0) > 0 for source in self._sources):
            raise DataError("no documents to train on", "give a file with text, or other weights")
        ids: list[int] = []
        owners: list[int] = []
        epoch = document_number = produced = 0
        while True:
            for index in self.order(epoch):
                start, end = self._bounds[index], self._bounds[index + 1]
                ids.extend(self._ids[start:end])
                owners.extend([document_number] * (end - start))
                document_number += 1
                while len(ids) >= length:
                    if produced >= skip:
                        yield ids[:length], owners[:length]
                    produced += 1
                    ids, owners = ids[length:], owners[length:]
            epoch += 1

    def batches(self, rows: int, length: int, *, skip: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
        """Endless batches: ids [rows, length] and document numbers [rows, length]."""
        source = self.rows(length, skip=skip * rows)
        while True:
            batch = [next(source) for _ in range(rows)]
            yield (
                torch.tensor([ids for ids, _ in batch]),
                torch.tensor([owners for _, owners in batch]),
            )
