"""Examples asked in other words. learning.text.paraphrases makes the words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, after_question
from learning.text.frames import Questions
from learning.text.paraphrases import Frames, asked_otherwise, unseen_wordings

FRAME_WORDS = 3
"""Words that an owner's turn in own talk needs to be a frame."""


def reworded(
    tokenizer: Tokenizer, example: Example, frames: Frames, context: int, rng: random.Random
) -> tuple[Example, ...]:
    """The example's answer to other wordings of its last question, drawn anew; none of no question."""
    question = example.question
    texts = asked_otherwise(question, frames, rng, example.prompt) if question.strip() else []
    return tuple(after_question(tokenizer, text, example, context) for text in texts)


def unseen(tokenizer: Tokenizer, example: Example, context: int) -> list[Example]:
    """The example's answer to wordings of its last question that are never trained."""
    question = example.question
    texts = unseen_wordings(question) if question.strip() else []
    return [after_question(tokenizer, text, example, context) for text in texts]


def owner_turns(tokenizer: Tokenizer, example: Example) -> list[str]:
    """What the owner says in own talk, which is made of ids and never was text, in order; what breaks
    off left out."""
    turns = tokenizer.chat.turns_of(example.ids)
    return [
        tokenizer.decode(ids)
        for (role, ids), (answering, _) in pairwise(turns)
        if role == "user" and answering == "assistant"
    ]


def talk_frames(tokenizer: Tokenizer, talk: Sequence[Example]) -> Questions:
    """Different turns of the owner in own talk, those of a word or two left out."""
    turns = (text.strip() for example in talk for text in owner_turns(tokenizer, example))
    return Questions(dict.fromkeys(text for text in turns if len(text.split()) >= FRAME_WORDS))
