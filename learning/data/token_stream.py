"""Endless rows of a corpus for pre-training: mixture weights, deterministic shuffling, packing.

Documents are laid end to end and cut at row ends, so that no position is padding; the number of the
document at each position lets attention stay inside it. Any row can be reached without making those
before it, so an interrupted run goes on at once and each process of several makes only its own rows.
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
    """All documents of a corpus that are not held out, in a deterministic random order.

    `weights` says how often a source is seen in a pass: 2 is twice, 0.5 every second document.
    Sources that are not named are seen once.
    """

    def __init__(
        self, corpus: Corpus, *, weights: Mapping[str, float] | None = None, seed: int = 0
    ) -> None:
        """Raises DataError for a weight of a source that the corpus does not have."""
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
        self._copies: NDArray[np.float64] = (
            np.where(corpus.held, 0.0, per_source[corpus.source]) if len(corpus) else np.empty(0)
        )

    @classmethod
    def of(
        cls,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        *,
        weights: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> TokenStream:
        """A stream of all of the documents, tokenised in memory; nothing is held out."""
        corpus = Corpus([tokenise(documents, tokenizer)], hold_out=False)
        return cls(corpus, weights=weights, seed=seed)

    @property
    def tokens(self) -> int:
        """Tokens of all documents, each counted once."""
        return self.corpus.tokens()

    @property
    def tokens_per_pass(self) -> int:
        """Tokens that a pass holds on average, by the weights."""
        return int((self._copies * self.corpus.length).sum())

    def order(self, epoch: int) -> list[int]:
        """Documents of the pass, repeated by weight, shuffled; the same for the same seed."""
        rng = random.Random(f"{self.seed}/{epoch}")
        chosen: list[int] = []
        for index, weight in enumerate(self._copies.tolist()):
            copies = int(weight) + (rng.random() < weight % 1.0)
            chosen.extend([index] * copies)
        rng.shuffle(chosen)
        return chosen

    def rows(self, length: int, *, skip: int = 0) -> Iterator[tuple[list[int], list[int]]]:
        """Endless rows of `length` ids (~id where it is not learned) and the document number of each;
        `skip` rows are passed over."""
        cursor = _Cursor(self, length)
        while True:
            ids, owners = cursor.row(skip)
            yield ids.tolist(), owners.tolist()
            skip += 1

    def batches(
        self, rows: int, length: int, *, skip: int = 0, share: tuple[int, int] = (0, 1)
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Endless batches: ids [rows, length], ~id where it is not learned, and document numbers
        [rows, length].

        `share` (k, n): only the k-th of n equal parts of each batch is made; n divides rows.
        """
        cursor = _Cursor(self, length)
        own = rows // share[1]
        first = skip * rows + share[0] * own
        while True:
            made = [cursor.row(first + i) for i in range(own)]
            yield (
                torch.from_numpy(np.stack([ids for ids, _ in made])),
                torch.from_numpy(np.stack([owners for _, owners in made])),
            )
            first += rows


class _Cursor:
    """Makes rows in rising order of their number. Row r is the stream's ids from r * length on."""

    def __init__(self, stream: TokenStream, length: int) -> None:
        # a pass may be empty by chance where weights are below 1; only no weight at all is an error
        if not np.any(stream._copies > 0):
            raise DataError("no documents to train on", "give a file with text, or other weights")
        self._stream, self._length = stream, length
        self._begin, self._epoch = 0, -1
        self._order: NDArray[np.int64] = np.empty(0, np.int64)
        self._ends: NDArray[np.int64] = np.zeros(1, np.int64)
        self._next_pass()

    def row(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ids (~id where it is not learned) and document numbers (counted within the row), [length]
        each."""
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
        """The document at `place` of the pass from position `at` of the pass on."""
        document = self._stream.corpus.document(int(self._order[place]))
        return document[len(document) - (int(self._ends[place]) - at) :]

    def _seek(self, position: int) -> int:
        """Moves to the pass that holds the position; returns the position within it."""
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
