"""Conversations about invented lives (learning.text.lives): facts are told, then asked for.

Left out: tokens, and what is asked after lessons.
"""

from __future__ import annotations

import random

from learning.text.lives import NOT_KNOWN, InventedLife
from learning.text.synthetic import HEARD


def told_and_asked(life: InventedLife, rng: random.Random) -> list[tuple[str, str]]:
    """A conversation, (question, answer): one to four facts are told, then some are asked for in any words,
    for yes or no, and about what nobody told."""
    facts = rng.sample(life.facts, min(len(life.facts), rng.randint(1, 4)))
    heard = [rng.choice((fact.answer, rng.choice(HEARD))) for fact in facts]
    told = [(rng.choice(fact.statements), said) for fact, said in zip(facts, heard, strict=True)]
    asked = []
    for fact in rng.sample(facts, min(2, len(facts))):
        texts = rng.sample((*fact.rewordings, *fact.paraphrases, fact.question), 2)
        asked += [(text, fact.answer) for text in texts]
        more = []
        if rng.random() < 0.5:
            more.append(rng.choice((fact.right, fact.wrong)))
        if fact.follows and rng.random() < 0.4:
            more.append(fact.follows)
        asked += [(one.question, one.answer) for one in map(rng.choice, more)]
        if fact.neighbours and rng.random() < 0.4:
            asked.append((rng.choice(fact.neighbours), NOT_KNOWN))
    if rng.random() < 0.3:
        asked.append((rng.choice(life.unknown), NOT_KNOWN))
    rng.shuffle(asked)
    return [*told, *asked]
