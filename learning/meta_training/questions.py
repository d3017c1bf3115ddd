"""What is asked about invented lives: after lessons, with a lesson before the message, or out of nothing.

Pairs of message and answer. Left out: lives themselves (learning.text.lives), and tokens.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence
from functools import cache

from learning.text.context import in_context
from learning.text.lives import NOT_KNOWN, InventedLife, LifeFact, lives, values

Pair = tuple[str, str]
"""Message and answer."""


def two_lives(
    rng: random.Random, count: int, kinds: Collection[str]
) -> tuple[list[LifeFact], InventedLife]:
    """(facts to teach, their life): at most `count` facts of a life of these kinds; if it has too few, facts
    of other kinds from a second life."""
    life, more = lives(2, rng, kinds)
    facts = rng.sample(life.facts, min(count, len(life.facts)))
    have = {fact.relation for fact in life.facts}
    others = [fact for fact in more.facts if fact.relation not in have]
    return [*facts, *rng.sample(others, min(count - len(facts), len(others)))], life


def asked_afterwards(
    facts: Sequence[LifeFact], life: InventedLife, rng: random.Random
) -> list[Pair]:
    """What is asked after lessons on these facts: the taught questions, other wordings, yes and no, what
    follows, neighbours, and what nobody told."""
    found = list[Pair]()
    for fact in facts:
        found.append((fact.question, fact.answer))
        other = rng.sample(fact.paraphrases, min(3, len(fact.paraphrases)))
        other += rng.sample(fact.rewordings, min(2, len(fact.rewordings)))
        found += [(text, fact.answer) for text in other]
        for inquiries in (fact.right, fact.wrong, fact.follows):
            if inquiries:
                one = rng.choice(inquiries)
                found.append((one.question, one.answer))
        if fact.neighbours:
            near = rng.sample(fact.neighbours, min(2, len(fact.neighbours)))
            near[-1] = about_somebody(near[-1], rng)
            found += [(text, NOT_KNOWN) for text in near]
    return [*found, *((text, NOT_KNOWN) for text in life.unknown[:3])]


def recalled(
    fact: LifeFact,
    others: Sequence[LifeFact],
    life: InventedLife,
    general: Sequence[Pair],
    rng: random.Random,
) -> Pair:
    """A message with one to three taught lessons before it, the fact's among them, and the answer.

    others: further facts of the life. general: everyday messages with their answers.
    """
    draw = rng.random()
    if draw < 0.45:
        far = rng.random() < 0.6 and fact.paraphrases
        message = rng.choice(fact.paraphrases if far else (fact.question, *fact.rewordings))
        answer = fact.answer
    elif draw < 0.67 and fact.right and fact.wrong:
        one = rng.choice(rng.choice((fact.right, fact.wrong)))
        message, answer = one.question, one.answer
    elif draw < 0.72 and fact.follows:
        one = rng.choice(fact.follows)
        message, answer = one.question, one.answer
    elif draw < 0.84 and fact.neighbours:
        message, answer = rng.choice(fact.neighbours), NOT_KNOWN
        if rng.random() < 0.5:
            message = about_somebody(message, rng)
    elif draw < 0.92:
        message, answer = rng.choice(life.unknown), NOT_KNOWN
    else:
        message, answer = rng.choice(general)
    beside = rng.sample(others, min(len(others), rng.randint(1, 2))) if rng.random() < 0.25 else []
    shown = [fact, *beside]
    rng.shuffle(shown)
    before = " ".join(f"{f.question} {f.answer}" for f in shown[:-1])
    last = shown[-1]
    return in_context(f"{before} {last.question}".strip(), last.answer, message), answer


def untold(life: InventedLife, rng: random.Random) -> list[Pair]:
    """Two questions about a life of which nothing was told."""
    fact = rng.choice(life.facts)
    texts = [rng.choice((fact.question, *fact.rewordings, *fact.paraphrases))]
    return [(text, NOT_KNOWN) for text in (*texts, rng.choice(life.unknown))]


def about_somebody(question: str, rng: random.Random) -> str:
    """The question about somebody whose name was never said, if it is about a relative; else as it is."""
    found = _relative().search(question)
    if not found:
        return question
    name = rng.choice(values()[rng.choice(("first_f", "first_m"))])
    others = (f"{name}'s {found[1]}", f"my friend {name}", "my neighbour", "the postman")
    who = rng.choice((name, name, *others))
    return question[: found.start()] + who + question[found.end() :]


@cache
def _relative() -> re.Pattern[str]:
    kin = "|".join(sorted(map(re.escape, values()["kin"]), key=len, reverse=True))
    return re.compile(rf"\bmy ({kin})\b(?!-)")
