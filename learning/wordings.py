"""A lesson in other words: by the rules for English questions, and in the frames of other questions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from engine.tokenizer import Tokenizer
from learning.examples import Example, after_question
from learning.folding import fold
from learning.splices import splices
from learning.variations import variations

WORDINGS = 48
"""Other wordings of a lesson's question that its batches draw from; half of them, or more where the rules
give fewer, in frames of other questions."""
FRAME_WORDS = 3
"""Words that an owner's turn in own talk needs to be a frame."""


@dataclass(frozen=True)
class Frames:
    """What others are asked between the small words of, by which an owner's way of asking is guessed."""

    memory: Sequence[str] = ()
    """Questions that have answers of their own."""
    talk: Sequence[str] = ()
    """What the owner says in the model's own talk."""


NO_FRAMES = Frames()


def asked_otherwise(question: str, frames: Frames, rng: random.Random) -> list[str]:
    """Up to WORDINGS different texts."""
    made, own = variations(question, WORDINGS // 2, rng), fold(question)
    memory = tuple(frame for frame in frames.memory if frame != own)
    return made + splices(question, memory, WORDINGS - len(made), rng, frames.talk)


def reworded(
    tokenizer: Tokenizer, example: Example, frames: Frames, context: int, rng: random.Random
) -> tuple[Example, ...]:
    """The example's answer to other wordings of its last question, drawn anew; none of no question."""
    question = last_question(tokenizer, example)
    texts = asked_otherwise(question, frames, rng) if question.strip() else []
    return tuple(after_question(tokenizer, text, example.answer, context) for text in texts)


def last_question(tokenizer: Tokenizer, example: Example) -> str:
    """What the owner said last in it; empty where there is nothing."""
    turns = owner_turns(tokenizer, example)
    return turns[-1] if turns else ""


def owner_turns(tokenizer: Tokenizer, example: Example) -> list[str]:
    """What the owner says in a conversation, in order."""
    turns: list[list[int]] = []
    speaking = False
    for token in example.ids:
        if token in (tokenizer.user, tokenizer.assistant, tokenizer.end):
            speaking = token == tokenizer.user
            turns += [[]] if speaking else []
        elif speaking:
            turns[-1].append(token)
    return [tokenizer.decode(turn) for turn in turns]


def talk_frames(tokenizer: Tokenizer, talk: Sequence[Example]) -> list[str]:
    """Different turns of the owner in own talk, those of a word or two left out."""
    turns = (text.strip() for example in talk for text in owner_turns(tokenizer, example))
    return list(dict.fromkeys(text for text in turns if len(text.split()) >= FRAME_WORDS))
