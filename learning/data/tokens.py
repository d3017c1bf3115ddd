"""Tokenised documents: the concatenated ids of a file with the bounds of its documents.

A corpus has one such part for each file; the ids may be memory-mapped (learning.data.token_cache). The
held-out documents are chosen here, once for training and evaluation.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.tokenizers.chat_format import encode_chat, encode_document, pieces_of
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import HELD_OUT, Document


@dataclass(frozen=True)
class Tokens:
    """The N documents of one file. The ids of document i are ids[bounds[i]:bounds[i + 1]]."""

    ids: NDArray[Any]
    """int16 or int32. A negative value ~id is an id that is context without loss."""
    bounds: NDArray[np.int64]
    """[N + 1]."""
    lots: NDArray[np.uint32]
    """[N]: Document.lot."""
    sources: NDArray[np.uint32]
    """[N]: index of the document's source in `names`."""
    names: tuple[str, ...]
    digest: str
    """Hash of everything that the ids depend on (learning.data.token_cache.data_digest)."""

    def document(self, index: int) -> NDArray[Any]:
        """The ids of a document; ~id for an id without loss."""
        return self.ids[self.bounds[index] : self.bounds[index + 1]]


def encode(document: Document, tokenizer: Tokenizer) -> list[int]:
    """The ids of a document, as a conversation or as plain text, with special tokens."""
    if document.turns:
        return encode_chat(tokenizer, document.turns).ids
    return encode_document(tokenizer, document.text).ids


def encode_marked(document: Document, tokenizer: Tokenizer) -> list[int]:
    """`encode`, with ~id for the ids of turns without loss. The ids that open such a turn keep their loss."""
    if not document.unlearned:
        return encode(document, tokenizer)
    ids, kept = encode(document, tokenizer), len(tokenizer.chat.start)
    for place, piece in enumerate(pieces_of(tokenizer, document.turns)):
        said, kept = kept + len(piece.head), kept + len(piece.ids)
        if place in document.unlearned:
            ids[said:kept] = [~i for i in ids[said:kept]]
    return ids


def plain_ids(marked: NDArray[Any]) -> NDArray[Any]:
    """The ids with each ~id replaced by its id."""
    return np.where(marked < 0, ~marked, marked)


def tokenise(documents: Iterable[Document], tokenizer: Tokenizer, digest: str = "") -> Tokens:
    """Tokenises documents in memory. digest: see Tokens."""
    ids = array("h" if tokenizer.vocab_size <= 1 << 15 else "i")
    bounds, lots, sources = array("q", [0]), array("L"), array("I")
    names: dict[str, int] = {}
    for document in documents:
        ids.extend(encode_marked(document, tokenizer))
        bounds.append(len(ids))
        lots.append(document.lot)
        sources.append(names.setdefault(document.source, len(names)))
    return Tokens(
        np.array(ids, f"i{ids.itemsize}"),
        np.array(bounds, np.int64),
        np.array(lots, np.uint32),
        np.array(sources, np.uint32),
        tuple(names),
        digest,
    )


class Corpus:
    """The tokenised documents of all files, numbered from 0 across the files."""

    def __init__(self, parts: Sequence[Tokens], *, hold_out: bool = True) -> None:
        """hold_out: False holds out nothing, for tests and evaluation."""
        self.parts = parts
        names = sorted({name for part in parts for name in part.names})
        place = {name: i for i, name in enumerate(names)}
        self.names = tuple(names)
        self.part = np.repeat(np.arange(len(parts)), [len(part.lots) for part in parts])
        self.start = _joined([part.bounds[:-1] for part in parts], np.int64)
        self.length = _joined([np.diff(part.bounds) for part in parts], np.int64)
        self.source = _joined(
            [
                np.array([place[n] for n in part.names], np.int64)[part.sources]
                if part.names
                else np.empty(0, np.int64)
                for part in parts
            ],
            np.int64,
        )
        lots = _joined([part.lots for part in parts], np.uint32)
        self.held = lots % HELD_OUT == 0 if hold_out else np.zeros(len(lots), bool)
        if hold_out and len(lots) > 1 and (not self.held.any() or self.held.all()):
            self.held = lots == lots.min()  # a small text holds out at least one document
            self.held &= ~self.held.all()

    def __len__(self) -> int:
        return len(self.length)

    @property
    def digest(self) -> str:
        """Hash of the data: contents and order of the files, and the tokenizer."""
        return hashlib.blake2b(
            " ".join(part.digest for part in self.parts).encode(), digest_size=16
        ).hexdigest()

    def tokens(self, *, held: bool = False) -> int:
        """Number of tokens to train on, or of held-out tokens. Each document counts once."""
        return int(self.length[self.held == held].sum())

    def conversations(self, head: Sequence[int]) -> bool:
        """Whether the corpus contains a conversation. head: the ids that open an answer."""
        return any(_holds(plain_ids(part.ids), head) for part in self.parts)

    def by_source(self) -> dict[str, dict[str, int]]:
        """By source: the number of "documents", "tokens" and "held_out" documents."""
        count = len(self.names)  # vectorised, because there may be as many sources as documents
        documents = np.bincount(self.source, minlength=count)
        tokens = np.bincount(self.source, self.length, count)
        held = np.bincount(self.source[self.held], minlength=count)
        return {
            name: {"documents": int(d), "tokens": int(t), "held_out": int(h)}
            for name, d, t, h in zip(self.names, documents, tokens, held, strict=True)
        }

    def document(self, index: int) -> NDArray[Any]:
        """The ids of a document; ~id for an id without loss."""
        start = self.start[index]
        return self.parts[self.part[index]].ids[start : start + self.length[index]]

    def held_out(self) -> dict[str, Iterator[list[int]]]:
        """By source: an iterator over the ids of its held-out documents."""
        found: dict[str, Iterator[list[int]]] = {}
        held = np.flatnonzero(self.held)
        for place in np.unique(self.source[held]):
            own = held[self.source[held] == place]
            found[self.names[place]] = (plain_ids(self.document(int(i))).tolist() for i in own)
        return found


def _joined(arrays: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)


def _holds(ids: NDArray[Any], wanted: Sequence[int]) -> bool:
    """Whether `ids` contains `wanted` as a contiguous sequence."""
    places = max(0, len(ids) - len(wanted) + 1)
    found = np.ones(places, bool)
    for offset, one in enumerate(wanted):
        found &= ids[offset : offset + places] == one
    return bool(found.any())
