"""A lesson in other words: as people ask questions of its kind, by the rules for English questions, and in
the frames of other questions.

Some wordings of a question are never trained, so that it can be asked whether its lesson was understood.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

from learning.text.frames import NO_QUESTIONS, Questions, splices
from learning.text.kinds.recognise import asked_as, what_is_asked
from learning.text.normalise import fold
from learning.text.variations import variations

WORDINGS = 48
"""Other wordings of a lesson's question that its batches draw from."""
OF_ITS_KIND = 16
"""Most of them that are ways to ask a question of its kind. Half of the others, or more where the rules give
fewer, are in frames of other questions."""
UNSEEN = 10
"""Wordings of a question that are only asked, never trained."""


@dataclass(frozen=True)
class Frames:
    """What others are asked between the small words of, by which an owner's way of asking is guessed."""

    memory: Questions = NO_QUESTIONS
    """Questions that have answers of their own, folded, those taught last at the end."""
    talk: Questions = NO_QUESTIONS
    """What the owner says in the model's own talk."""


NO_FRAMES = Frames()


def asked_otherwise(
    question: str, frames: Frames, rng: random.Random, prompt: str = ""
) -> list[str]:
    """Up to WORDINGS texts to train, different after `fold`, none of `unseen_wordings` and none that is
    remembered with another answer. prompt: the folded question as it is remembered, with the talk before it.
    """
    own = {fold(question), prompt}
    taken = {fold(text) for text in unseen_wordings(question)} | (frames.memory.places.keys() - own)
    asked_since = _asked_since(question, own, frames.memory)
    made = [] if asked_since else asked_as(question, rng, OF_ITS_KIND)
    made += variations(question, (WORDINGS - len(made)) // 2, rng)
    # frames take the places of texts that repeat others
    count = WORDINGS - len({fold(text) for text in made})
    made += splices(question, frames.memory, count, rng, talk=frames.talk, own=own)
    wanted = sum(fold(text) not in taken for text in made[:WORDINGS])
    found = dict[str, str]()
    for text in made:
        if fold(text) not in taken:
            found.setdefault(fold(text), text)
    if len(found) < wanted:  # the frames give too few; the rules may give more
        for text in variations(question, WORDINGS, rng):
            if len(found) < wanted and fold(text) not in taken:
                found.setdefault(fold(text), text)
    return list(found.values())


def _asked_since(question: str, own: Collection[str], memory: Questions) -> bool:
    """Whether a question that asks for the same thing was taught later. The wordings of their kind belong to
    that one: its answer may be another."""
    place = max((memory.places[text] for text in own if text in memory.places), default=None)
    asked = what_is_asked(fold(question))  # as the memory has it
    return bool(asked) and place is not None and memory.asked_last.get(asked, place) > place


def unseen_wordings(question: str) -> list[str]:
    """Up to UNSEEN different wordings, always the same ones. They are made by the rules alone: what frames of
    other questions give is often no sentence."""
    rng, found = random.Random(fold(question)), {fold(question): question}
    for text in variations(question, 2 * UNSEEN, rng):
        found.setdefault(fold(text), text)
    return list(found.values())[1 : 1 + UNSEEN]
