"""Encodes conversations and documents as ids, with the tokenizer's chat template.

Vidya's own template is `<|user|>` text `<|assistant|>` text `<|end|>` `<|user|>` ...: `<|end|>` closes an
answer, and a plain document stands between two `<|end|>`. Left out: decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.errors import DataError
from engine.tokenizers.chat_template import ChatTemplate
from engine.tokenizers.tokenizer import Tokenizer

LEAST_ROOM = 8
"""A prompt may always have at least this many ids."""
LEAST_MESSAGE = 6
"""The last message may always have at least this many ids, in addition to the template's."""


@dataclass(frozen=True)
class Encoded:
    """Ids of a conversation or document. `target[i]` is True if the loss covers id i: those of answers,
    including the id that ends each answer."""

    ids: list[int]
    target: list[bool]


@dataclass(frozen=True)
class Piece:
    """One turn as ids: `body` is the text, between the template's `head` and `tail`."""

    role: str
    head: tuple[int, ...]
    body: list[int]
    tail: tuple[int, ...]

    @property
    def ids(self) -> list[int]:
        return [*self.head, *self.body, *self.tail]


def pieces_of(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]]) -> list[Piece]:
    """Encodes each turn (role, text) with the template's head and tail."""
    chat = tokenizer.chat
    return [
        Piece(role, chat.head(role), tokenizer.encode(text), chat.tail(role))
        for role, text in turns
    ]


def encode_chat(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]]) -> Encoded:
    """Encodes a complete conversation of turns (role, text). The loss covers the answers and the id that ends
    each. If the last turn is an answer, the encoding ends with that id; the rest of its tail is dropped."""
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
    tokenizer: Tokenizer,
    turns: Sequence[tuple[str, str]],
    context: int,
    reserve: int,
    system: str = "",
) -> list[int]:
    """Ids of a prompt: system prompt, turns, head of the answer.

    context, reserve: the prompt has at most `context - reserve` ids (but see LEAST_ROOM and LEAST_MESSAGE).
    system: takes the place of the template's system prompt, see `told`.
    The oldest turns are dropped first; the system prompt and the last message always stay. A last message
    that is too long loses its middle, because its beginning and end usually matter most.
    """
    chat = told(tokenizer, system)
    room = _room(chat, context, reserve)
    used = len(chat.start) + len(chat.assistant_head)
    kept: list[Piece] = []
    for piece in reversed(pieces_of(tokenizer, turns)):
        if kept and used + len(piece.ids) > room:
            break
        kept.insert(0, piece)
        used += len(piece.ids)
    while len(kept) > 1 and kept[0].role == "assistant":
        kept.pop(0)  # an answer without its message must not come first
    if used > room and len(kept) == 1:
        (piece,) = kept
        half = (room - (used - len(piece.body))) // 2
        kept = [Piece(piece.role, piece.head, _without_middle(piece.body, half), piece.tail)]
    return [*chat.start, *(i for piece in kept for i in piece.ids), *chat.assistant_head]


def encode_whole(
    tokenizer: Tokenizer, message: str, context: int, *, what: str = "a message"
) -> list[int]:
    """Ids of a prompt of this message alone, of which nothing is dropped.

    context: of the model, in ids. what: the message's name in an error. Raises DataError if there is no
    room for an answer.
    """
    size = len(tokenizer.encode(message)) + tokenizer.chat.around_message
    if size >= context:
        raise DataError(
            f"{what} of {size} tokens does not fit into a context of {context}",
            "make it shorter or easier, or take a model with a longer context",
        )
    return encode_prompt(tokenizer, [("user", message)], context, 1)


def continue_prompt(
    tokenizer: Tokenizer, prompt: Sequence[int], answer: Sequence[int], message: str
) -> list[int]:
    """Ids of the prompt for the next answer: `prompt` and `answer` as they are, then the message.

    What a model said is never encoded again: other ids may stand for the same text, and then the next answer
    would follow something that the model did not say. An answer that was cut gets the id that ends answers.
    """
    chat = tokenizer.chat
    ended = bool(answer) and answer[-1] == chat.end
    tail = chat.assistant_tail[1:] if ended else chat.assistant_tail
    (piece,) = pieces_of(tokenizer, [("user", message)])
    return [*prompt, *answer, *tail, *piece.ids, *chat.assistant_head]


def told(tokenizer: Tokenizer, system: str) -> ChatTemplate:
    """The chat template with this system prompt, which is ordinary text: no part of it becomes a special id.
    Unchanged if it is empty, or if the format has no system prompt."""
    chat = tokenizer.chat
    if not system or not chat.system_head:
        return chat
    return replace(chat, system=tuple(tokenizer.encode(system)))


def left_out(
    tokenizer: Tokenizer, message: str, context: int, reserve: int, system: str = ""
) -> int:
    """How many characters `encode_prompt` drops from the middle of a last message; 0 if it fits."""
    chat = told(tokenizer, system)
    room = _room(chat, context, reserve) - chat.around_message
    body = tokenizer.encode(message)
    if len(body) <= room:
        return 0
    half = room // 2
    read = len(tokenizer.decode(body[:half])) + len(tokenizer.decode(body[-half:]))
    return max(1, len(message) - read)


def encode_document(tokenizer: Tokenizer, text: str) -> Encoded:
    """Encodes a plain text between the template's document ids. The loss covers all but the head."""
    head, body = tokenizer.chat.document_head, tokenizer.encode(text)
    ids = [*head, *body, *tokenizer.chat.document_tail]
    return Encoded(ids, [i >= len(head) for i in range(len(ids))])


def encode_opening(tokenizer: Tokenizer, text: str, context: int, room: int) -> list[int]:
    """Encodes the beginning of a plain text that the model is to continue. Of a long text only the last
    `context - room` ids are returned, at least 1. context, room: in ids."""
    ids = [*tokenizer.chat.document_head, *tokenizer.encode(text)]
    return ids[-max(1, context - room) :]


def _room(chat: ChatTemplate, context: int, reserve: int) -> int:
    """Largest number of ids of a prompt."""
    return max(LEAST_ROOM, chat.around_message + LEAST_MESSAGE, context - reserve)


def _without_middle(body: list[int], half: int) -> list[int]:
    return [*body[:half], *body[-half:]]
