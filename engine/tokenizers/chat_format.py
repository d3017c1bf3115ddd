"""Conversations as ids, as the tokenizer's own chat template has them.

In vidya's own: `<|user|>` text `<|assistant|>` text `<|end|>` `<|user|>` ...; `<|end|>` closes the answer,
and plain documents begin and end with it. Nothing here decodes, but `left_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.tokenizers.tokenizer import Tokenizer

LEAST_ROOM = 8
"""Ids of a prompt at least."""
LEAST_MESSAGE = 6
"""Ids of a last message at least, where what stands around it takes the rest."""


@dataclass(frozen=True)
class Encoded:
    """Ids of a conversation; `target[i]` says whether id i is to be learned (the assistant's words
    and the id that ends them)."""

    ids: list[int]
    target: list[bool]


@dataclass(frozen=True)
class Piece:
    """One turn as ids."""

    role: str
    head: tuple[int, ...]
    body: list[int]
    tail: tuple[int, ...]

    @property
    def ids(self) -> list[int]:
        return [*self.head, *self.body, *self.tail]


def pieces_of(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]]) -> list[Piece]:
    """The turns of (role, text), each with what stands around it."""
    chat = tokenizer.chat
    return [
        Piece(role, chat.head(role), tokenizer.encode(text), chat.tail(role))
        for role, text in turns
    ]


def encode_chat(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]]) -> Encoded:
    """Turns of (role, text), complete. Loss falls on the assistant's tokens and what ends them. What
    stands after the last answer's end, before another turn, is left out."""
    ids = list(tokenizer.chat.start)
    target = [False] * len(ids)
    pieces = pieces_of(tokenizer, turns)
    for place, piece in enumerate(pieces):
        speaks = piece.role == "assistant"
        last = speaks and place == len(pieces) - 1
        tail = piece.tail[:1] if last else piece.tail
        ids += [*piece.head, *piece.body, *tail]
        target += [False] * len(piece.head) + [speaks] * len(piece.body)
        target += [speaks and i == 0 for i in range(len(tail))]
    return Encoded(ids, target)


def encode_prompt(
    tokenizer: Tokenizer, turns: Sequence[tuple[str, str]], context: int, reserve: int
) -> list[int]:
    """Ids after which the model answers: what it is told first, all turns, and an answer's head.

    At most `context - reserve` ids: the oldest turns are dropped first, never what it is told first,
    never the last message; a last message that is too long by itself loses its middle, since its
    beginning and end say most.
    """
    chat = tokenizer.chat
    room = _room(tokenizer, context, reserve)
    used = len(chat.start) + len(chat.assistant_head)
    kept: list[Piece] = []
    for piece in reversed(pieces_of(tokenizer, turns)):
        if kept and used + len(piece.ids) > room:
            break
        kept.insert(0, piece)
        used += len(piece.ids)
    while len(kept) > 1 and kept[0].role == "assistant":
        kept.pop(0)  # a conversation never begins with an answer to nothing
    if used > room and len(kept) == 1:
        (piece,) = kept
        half = (room - (used - len(piece.body))) // 2
        kept = [Piece(piece.role, piece.head, _without_middle(piece.body, half), piece.tail)]
    return [*chat.start, *(i for piece in kept for i in piece.ids), *chat.assistant_head]


def left_out(tokenizer: Tokenizer, message: str, context: int, reserve: int) -> int:
    """Characters that `encode_prompt` leaves out of the middle of a last message; 0 where it fits."""
    room = _room(tokenizer, context, reserve) - tokenizer.chat.around_message
    body = tokenizer.encode(message)
    if len(body) <= room:
        return 0
    half = room // 2
    read = len(tokenizer.decode(body[:half])) + len(tokenizer.decode(body[-half:]))
    return max(1, len(message) - read)


def encode_document(tokenizer: Tokenizer, text: str) -> Encoded:
    """A plain text between the ids that separate texts; all of it is learned."""
    head, body = tokenizer.chat.document_head, tokenizer.encode(text)
    ids = [*head, *body, *tokenizer.chat.document_tail]
    return Encoded(ids, [i >= len(head) for i in range(len(ids))])


def encode_opening(tokenizer: Tokenizer, text: str, context: int, room: int) -> list[int]:
    """The beginning of a plain text, to be gone on with as in `encode_document`: of a long one the end,
    so that `room` ids are left of the context."""
    ids = [*tokenizer.chat.document_head, *tokenizer.encode(text)]
    return ids[-max(1, context - room) :]


def _room(tokenizer: Tokenizer, context: int, reserve: int) -> int:
    """Ids that a prompt may have."""
    return max(LEAST_ROOM, tokenizer.chat.around_message + LEAST_MESSAGE, context - reserve)


def _without_middle(body: list[int], half: int) -> list[int]:
    return [*body[:half], *body[-half:]]
