"""A lesson in other words: by the rules for English questions, and in the frames of other questions."""

from __future__ import annotations

import random
from dataclasses import dataclass

from learning.text.frames import NO_QUESTIONS, Questions, splices
from learning.text.normalise import fold
from learning.text.variations import variations

WORDINGS = 48
"""Other wordings of a lesson's question that its batches draw from; half of them, or more where the rules
give fewer, in frames of other questions."""


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
