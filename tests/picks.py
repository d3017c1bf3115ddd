"""Journals with many picks of an owner who likes being asked back."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine.config import Sampling
from learning.journal.journal import Journal
from learning.protocol.records import Candidate, Correction, Judgement, Pick, Rating, Turn

THINGS = ("cat", "moon", "bread", "river", "sea", "rain", "butter", "honey", "word", "day")
ASKING = ("What do you like?", "How are you?", "And you?", "What is it?")
TELLING = ("I am well.", "The sea is warm.", "It runs to the river.", "I like bread.", "Yes.")


def ask(journal: Journal, message: str, options: Sequence[str], talk: int | None = None) -> int:
    """Id of an ask with these candidates."""
    talk = journal.new_conversation() if talk is None else talk
    number = journal.add_ask(talk, (Turn("user", message),), Sampling()).id
    journal.add_candidates(
        Candidate(number, index, text, (1,), (-0.5,), "end", 1)
        for index, text in enumerate(options, 1)
    )
    return number


def pick(
    journal: Journal, message: str, options: Sequence[str], index: int, talk: int | None = None
) -> int:
    """Id of the judgement that the candidate `index`, 1 to n, is the best."""
    number = ask(journal, message, options, talk)
    return judge(journal, Pick(number, index), options[index - 1])


def judge(journal: Journal, judgement: Judgement, answer: str) -> int:
    return journal.judge(judgement, answer)


def correct(journal: Journal, message: str, options: Sequence[str], text: str) -> int:
    number = ask(journal, message, options)
    return judge(journal, Correction(number, text), text)


def rate(journal: Journal, message: str, answer: str, good: bool) -> int:
    number = ask(journal, message, [answer])
    return judge(journal, Rating(number, "good" if good else "bad"), answer)


def fill(journal: Journal, count: int, *, flipped: bool = False, seed: int = 0) -> list[int]:
    """`count` picks, each in a conversation of its own, of the only one of three answers that asks back;
    flipped: of the only one that does not. Returns the judgements' ids."""
    rng, made = random.Random(seed), list[int]()
    liked, others = (TELLING, ASKING) if flipped else (ASKING, TELLING)
    for number in range(count):
        options = [*rng.sample(others, 2)]
        place = rng.randrange(3)
        options.insert(place, rng.choice(liked))
        thing = f"{rng.choice(THINGS)} {rng.choice(THINGS)} {number}"
        made.append(pick(journal, f"Tell me of the {thing}.", options, place + 1))
    return made
