"""learning.text.lives_talk: what was told is asked for, after it was told."""

from __future__ import annotations

import random

from learning.text.lives import NOT_KNOWN, lives
from learning.text.lives_talk import told_and_asked
from learning.text.synthetic import HEARD


def test_facts_are_told_first_and_then_asked_for() -> None:
    rng = random.Random(4)
    for life in lives(60, rng):
        statements = {text: fact for fact in life.facts for text in fact.statements}
        pairs = told_and_asked(life, rng)
        told = [statements[message] for message, _ in pairs if message in statements]
        assert 1 <= len(told) <= 4
        assert all(message in statements for message, _ in pairs[: len(told)])
        assert all(
            heard in (fact.answer, *HEARD) for (_, heard), fact in zip(pairs, told, strict=False)
        )
        right = {fact.answer for fact in told} | {NOT_KNOWN}
        right |= {one.answer for f in told for one in (*f.right, *f.wrong, *f.follows)}
        asked = pairs[len(told) :]
        assert len(asked) >= 2 and all(answer in right for _, answer in asked)
