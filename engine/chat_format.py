"""How a conversation becomes ids: `<|user|>` text `<|assistant|>` text `<|end|>` `<|user|>` ...

`<|end|>` closes the assistant's answer; plain documents begin and end with it. Nothing here decodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.tokenizer import Tokenizer


@dataclass(frozen=True)
class Encoded:
    """Ids of a conversation; `target[i]` says whether id i is to be learned (the assistant's words
    and the end token after them)."""

    ids: list[int]
    target: list[bool]


def encode_chat(tokenizer: Tokenizer, turns: Sequence[tuple[str, str]]) -> Encoded:
    """Turns of (role, text), complete. Loss falls on the assistant's tokens and `<|end|>`."""
    ids: list[int] = []
    target: list[bool] = []
    for role, text in turns:
        body = tokenizer.encode(text)
        if role == "assistant":
            ids += [tokenizer.assistant, *body, tokenizer.end]
            target += [False, *([True] * (len(body) + 1))]
        else:
            ids += [tokenizer.user, *body]
            target += [False] * (len(body) + 1)
    return Encoded(ids, target)


def encode_prompt(
    tokenizer: Tokenizer, turns: Sequence[tuple[str, str]], context: int, reserve: int
) -> list[int]:
    """Ids after which the model answers: all turns and a final `<|assistant|>`.

    At most `context - reserve` ids: the oldest turns are dropped first, never the last message; a
    last message that is too long by itself loses its middle, since its beginning and end say most.
    """
    room = max(8, context - reserve)
    pieces = []
    for role, text in turns:
        body = tokenizer.encode(text)
        pieces.append(
            [tokenizer.assistant, *body, tokenizer.end]
            if role == "assistant"
            else [tokenizer.user, *body]
        )
    used = 1
    kept: list[list[int]] = []
    for piece in reversed(pieces):
        if kept and used + len(piece) > room:
            break
        kept.insert(0, piece)
        used += len(piece)
    while len(kept) > 1 and kept[0][0] == tokenizer.assistant:
        kept.pop(0)  # a conversation never begins with an answer to nothing
    if used > room and len(kept) == 1:
        body = kept[0][1:]
        half = (room - 2) // 2
        kept[0] = [kept[0][0], *body[:half], *body[-half:]]
    return [i for piece in kept for i in piece] + [tokenizer.assistant]


def left_out(tokenizer: Tokenizer, message: str, context: int, reserve: int) -> int:
    """Characters that `encode_prompt` leaves out of the middle of a last message; 0 where it fits."""
    room = max(8, context - reserve)
    body = tokenizer.encode(message)
    if len(body) + 2 <= room:
        return 0
    half = (room - 2) // 2
    read = len(tokenizer.decode(body[:half])) + len(tokenizer.decode(body[-half:]))
    return max(1, len(message) - read)


def encode_document(tokenizer: Tokenizer, text: str) -> Encoded:
    """A plain text between two `<|end|>`; all of it is learned."""
    body = tokenizer.encode(text)
    return Encoded([tokenizer.end, *body, tokenizer.end], [False] + [True] * (len(body) + 1))


def encode_opening(tokenizer: Tokenizer, text: str, context: int, room: int) -> list[int]:
    """The beginning of a plain text, to be gone on with as in `encode_document`: of a long one the end,
    so that `room` ids are left of the context."""
    return [tokenizer.end, *tokenizer.encode(text)][-max(1, context - room) :]
