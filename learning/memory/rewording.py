"""Makes examples with the same answer after other wordings of the question, which
`learning.text.paraphrases` writes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from engine.tokenizers.tokenizer import Tokenizer
from learning.data.examples import Example, after_question
from learning.text.frames import Questions
from learning.text.paraphrases import Frames, asked_otherwise, unseen_wordings

FRAME_WORDS = 3
"""Least number of words of an owner's turn in self-generated talk that may serve as a frame."""


def reworded(
    tokenizer: Tokenizer, example: Example, frames: Frames, context: int, rng: random.Random
) -> tuple[Example, ...]:
    """The example's answer after newly drawn other wordings of its last question, each of at most `context`
    ids; empty if it has no question."""
    question = example.question
    texts = asked_otherwise(question, frames, rng, example.prompt) if question.strip() else []
    return tuple(after_question(tokenizer, text, example, context) for text in texts)


def unseen(tokenizer: Tokenizer, example: Example, context: int) -> list[Example]:
    """The example's answer after wordings of its last question that are never trained, for measuring."""
    question = example.question
    texts = unseen_wordings(question) if question.strip() else []
    return [after_question(tokenizer, text, example, context) for text in texts]


def owner_turns(tokenizer: Tokenizer, example: Example) -> list[str]:
    """The owner's turns in a self-generated conversation, in order, decoded from its ids. Leaves out a turn
    that no answer follows."""
    turns = tokenizer.chat.turns_of(example.ids)
    return [
        tokenizer.decode(ids)
        for (role, ids), (answering, _) in pairwise(turns)
        if role == "user" and answering == "assistant"
    ]


def talk_frames(tokenizer: Tokenizer, talk: Sequence[Example]) -> Questions:
    """The distinct owner's turns of at least FRAME_WORDS words in self-generated talk, as frames."""
    turns = (text.strip() for example in talk for text in owner_turns(tokenizer, example))
    return Questions(dict.fromkeys(text for text in turns if len(text.split()) >= FRAME_WORDS))
