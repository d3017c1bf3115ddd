"""Rows: ids behind the system prompt, and the places among them that are to be predicted.

All rows begin with the same system prompt. It is left out of them, because a pass computes it once
(learning.meta_training.network).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.corpus import Document
from learning.data.examples import Example, as_turns, from_turns
from learning.data.tokens import encode_marked

LONGEST = 180
"""Most ids of a conversation, the system prompt not counted."""


@dataclass(frozen=True, slots=True)
class MetaRow:
    """A row of ids."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    """Indices of the ids to predict, none of them 0."""
    weight: float = 0.0
    """Factor of the loss of each of these."""
    reference: int = -1
    """Where the reference's log-probabilities for the first of them stand; those for the others follow. -1:
    the loss is the likelihood of the ids, not the divergence from a reference."""

    def weighing(self, weight: float) -> MetaRow:
        """The row with another weight."""
        return replace(self, weight=weight)

    def held_at(self, reference: int) -> MetaRow:
        """The row with the place of its reference."""
        return replace(self, reference=reference)

    def without_end(self) -> MetaRow:
        """The row without its last target."""
        return replace(self, places=self.places[:-1])


class RowWriter:
    """Makes rows of texts. Keeps the ids of texts, because a life says each sentence many times."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer, chat = tokenizer, tokenizer.chat
        self.start = len(chat.start)
        """Number of ids of the system prompt."""
        self.end = chat.end
        self.joint = chat.assistant_tail[1:]
        self._before = chat.user_head
        self._between = (*chat.user_tail, *chat.assistant_head)
        self._encode = lru_cache(maxsize=50_000)(lambda text: tuple(tokenizer.encode(text)))

    def prompt(self, question: str) -> tuple[int, ...]:
        """The ids before the answer to a message."""
        return (*self._before, *self._encode(question), *self._between)

    def row(self, question: str, answer: str) -> MetaRow:
        """A message, and the answer to be predicted."""
        head = self.prompt(question)
        body = (*self._encode(answer), self.end)
        return MetaRow((*head, *body), tuple(range(len(head), len(head) + len(body))))

    def of(self, example: Example) -> MetaRow:
        """An example, without the system prompt at its beginning."""
        target = example.target[self.start :]
        places = tuple(i for i, wanted in enumerate(target) if wanted)
        return MetaRow(example.ids[self.start :], places)

    def conversation(self, pairs: Sequence[tuple[str, str]]) -> MetaRow:
        """Pairs of message and answer, cut to LONGEST ids; all answers are to be predicted."""
        return self.of(from_turns(self.tokenizer, as_turns(pairs), LONGEST + self.start))

    def talk(self, document: Document) -> MetaRow:
        """A conversation of a corpus, cut to LONGEST ids. The assistant's words are to be predicted, but for
        turns that are context without loss. The ids that end answers are not, because a corpus may break a
        conversation off anywhere."""
        row = self.of(from_turns(self.tokenizer, document.turns, LONGEST + self.start))
        marked = encode_marked(document, self.tokenizer)[self.start :]
        places = (i for i in row.places if marked[i] >= 0 and row.ids[i] != self.end)
        return replace(row, places=tuple(places))

    def after(self, before: MetaRow, row: MetaRow) -> MetaRow:
        """The row behind another one; its own ids alone are to be predicted."""
        head = (*before.ids, *self.joint)
        return MetaRow((*head, *row.ids), tuple(place + len(head) for place in row.places))


def weighed(rows: Sequence[MetaRow], weight: float) -> list[MetaRow]:
    """The rows with weights by which the sum of their losses is `weight` times the mean loss of a target."""
    targets = max(1, sum(len(row.places) for row in rows))
    return [row.weighing(weight / targets) for row in rows]
