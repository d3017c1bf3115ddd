"""An endless stream of packed training rows of a corpus, with mixture weights and deterministic shuffling.

Documents are concatenated and cut into rows, so there is no padding; the document number of each position
restricts attention to one document. Any row can be computed without the rows before it, so an interrupted
run resumes at once, and each of several processes computes only its own rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.tokens import Corpus, tokenise


class TokenStream:
    """Passes over documents of a corpus, each in a deterministic random order.

    weights: by source, how often each document occurs in a pass: 2 is twice; with 0.5 a document occurs with
    probability 1/2. The default is 1. documents: indices of those that a pass has, held-out ones too; None:
    all that are not held out.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
        documents: NDArray[np.int64] | None = None,
    ) -> None:
        """Raises DataError if `weights` names a source that the corpus does not have."""
        self.corpus = corpus
        self.seed = seed
        self.weights = dict(weights or {})
        unknown = sorted(set(self.weights) - set(corpus.names))
        if unknown:
            raise DataError(
                f"the mixture names {', '.join(map(repr, unknown))}, which the data does not have",
                f"its sources are: {', '.join(corpus.names)}",
            )
        per_source = np.array([self.weights.get(name, 1.0) for name in corpus.names])
        # without `documents`, held-out ones take part with weight 0: the order of old runs depends on it
        self._documents = np.arange(len(corpus)) if documents is None else documents
        self._copies: NDArray[np.float64] = per_source[corpus.source[self._documents]]
        if documents is None:
            self._copies = np.where(corpus.held, 0.0, self._copies)

    @classmethod
    def of(
        cls,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        *,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> TokenStream:
        """A stream of documents that are tokenised in memory. Nothing is held out."""
        corpus = Corpus([tokenise(documents, tokenizer)], hold_out=False)
        return cls(corpus, weights=weights, seed=seed)

    @property
    def tokens(self) -> int:
        """Number of tokens of all documents that are not held out, each counted once."""
        return self.corpus.tokens()

    @property
    def tokens_per_pass(self) -> int:
        """Expected number of tokens of a pass, given the weights."""
        return int((self._copies * self.corpus.length[self._documents]).sum())

    def order(self, epoch: int) -> list[int]:
        """Indices of the documents of pass `epoch`, repeated by weight and shuffled. Deterministic for a
        seed."""
        rng = random.Random(f"{self.seed}/{epoch}")
        chosen: list[int] = []
        weighted = zip(self._documents.tolist(), self._copies.tolist(), strict=True)
        for index, weight in weighted:
            copies = int(weight) + (rng.random() < weight % 1.0)
            chosen.extend([index] * copies)
        rng.shuffle(chosen)
        return chosen

    def rows(self, length: int, *, skip: int = 0) -> Iterator[tuple[list[int], list[int]]]:
        """Yields (ids, document numbers), `length` each, without end, after the first `skip` rows. An id
        without loss is ~id."""
        cursor = RowCursor(self, length)
        while True:
            ids, owners = cursor.row(skip)
            yield ids.tolist(), owners.tolist()
            skip += 1

    def batches(
        self, rows: int, length: int, *, skip: int = 0, share: tuple[int, int] = (0, 1)
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yields (ids, document numbers) without end, each [rows, length]. An id without loss is ~id.

        skip: number of batches to skip. share: (k, n) yields only part k (from 0) of n equal parts of each
        batch, each [rows / n, length]; n must divide rows.
        """
        cursor = RowCursor(self, length)
        own = rows // share[1]
        first = skip * rows + share[0] * own
        while True:
            made = [cursor.row(first + i) for i in range(own)]
            yield (
                torch.from_numpy(np.stack([ids for ids, _ in made])),
                torch.from_numpy(np.stack([owners for _, owners in made])),
            )
            first += rows


class RowCursor:
    """Computes rows in increasing order of their number. Row r begins at position r * length of the
    stream."""

    def __init__(self, stream: TokenStream, length: int) -> None:
        """length: ids of a row. Raises DataError if the stream has no documents."""
        # with weights below 1 a pass may be empty by chance; it is an error only if all weights are 0
        if not np.any(stream._copies > 0):
            raise DataError("no documents to train on", "give a file with text, or other weights")
        self._stream, self._length = stream, length
        self._begin, self._epoch = 0, -1
        self._order: NDArray[np.int64] = np.empty(0, np.int64)
        self._ends: NDArray[np.int64] = np.zeros(1, np.int64)
        self._next_pass()

    def row(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(ids, document numbers) of a row, [length] each. An id without loss is ~id. Documents are
        numbered from 0 in each row."""
        ids = np.empty(self._length, np.int64)
        owners = np.empty(self._length, np.int64)
        filled, owner = 0, 0
        while filled < self._length:
            at = self._seek(number * self._length + filled)
            place = int(np.searchsorted(self._ends, at, side="right"))
            piece = self._piece(place, at)[: self._length - filled]
            ids[filled : filled + len(piece)] = piece
            owners[filled : filled + len(piece)] = owner
            filled, owner = filled + len(piece), owner + 1
        return ids, owners

    def _piece(self, place: int, at: int) -> NDArray[Any]:
        """The ids of document `place` of the pass from position `at` of the pass to its end."""
        document = self._stream.corpus.document(int(self._order[place]))
        return document[len(document) - (int(self._ends[place]) - at) :]

    def _seek(self, position: int) -> int:
        """Advances to the pass that contains a position of the stream. Returns the position within the
        pass."""
        while position >= self._begin + self._size:
            self._begin += self._size
            self._next_pass()
        return position - self._begin

    @property
    def _size(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def _next_pass(self) -> None:
        self._epoch += 1
        self._order = np.array(self._stream.order(self._epoch), np.int64)
        self._ends = self._stream.corpus.length[self._order].cumsum()
