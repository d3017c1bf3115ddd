"""A lesson in other words: by the rules for English questions, and in the frames of other questions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from engine.tokenizer import Tokenizer
from learning.examples import Example, after_question
from learning.folding import fold
from learning.splices import NO_QUESTIONS, Questions, splices
from learning.variations import variations

WORDINGS = 48
"""Other wordings of a lesson's question that its batches draw from; half of them, or more where the rules
give fewer, in frames of other questions."""
FRAME_WORDS = 3
"""Words that an owner's turn in own talk needs to be a frame."""


@dataclass(frozen=True)
class Frames:
    """What others are asked between the small words of, by which an owner's way of asking is guessed."""

    memory: Questions = NO_QUESTIONS
    """Questions that have answers of their own."""
    talk: Questions = NO_QUESTIONS
    """What the owner says in the model's own talk."""


NO_FRAMES = Frames()


def asked_otherwise(
    question: str, frames: Frames, rng: random.Random, prompt: str = ""
) -> list[str]:
    """Up to WORDINGS different texts. prompt: the folded question as it is remembered, with the talk
    before it."""
    made, own = variations(question, WORDINGS // 2, rng), {fold(question), prompt}
    count = WORDINGS - len(made)
    return made + splices(question, frames.memory, count, rng, talk=frames.talk, own=own)


def reworded(
    tokenizer: Tokenizer, example: Example, frames: Frames, context: int, rng: random.Random
) -> tuple[Example, ...]:
    """The example's answer to other wordings of its last question, drawn anew; none of no question."""
    question = last_question(tokenizer, example)
    texts = asked_otherwise(question, frames, rng, example.prompt) if question.strip() else []
    return tuple(after_question(tokenizer, text, example.answer, context) for text in texts)


def last_question(tokenizer: Tokenizer, example: Example) -> str:
    """What the owner said last in it; empty where there is nothing."""
    turns = owner_turns(tokenizer, example)
    return turns[-1] if turns else ""


def owner_turns(tokenizer: Tokenizer, example: Example) -> list[str]:
    """What the owner says in a conversation, in order; what breaks off left out."""
    turns: list[str] = []
    began: int | None = None
    for place, token in enumerate(example.ids):
        if token == tokenizer.assistant and began is not None:
            turns.append(tokenizer.decode(list(example.ids[began:place])))
        if token in (tokenizer.user, tokenizer.assistant, tokenizer.end):
            began = place + 1 if token == tokenizer.user else None
    return turns


def talk_frames(tokenizer: Tokenizer, talk: Sequence[Example]) -> Questions:
    """Different turns of the owner in own talk, those of a word or two left out."""
    turns = (text.strip() for example in talk for text in owner_turns(tokenizer, example))
    return Questions(dict.fromkeys(text for text in turns if len(text.split()) >= FRAME_WORDS))
