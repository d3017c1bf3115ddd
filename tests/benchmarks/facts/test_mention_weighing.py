"""The fit of how likely a question asks for what the owner said."""

from __future__ import annotations

import random

from benchmarks.facts.mention_weighing import Asked, fitted, gather, judged
from benchmarks.facts.people_data import read_people


def test_what_is_likeliest_is_found_for_each_question() -> None:
    facts = read_people("tune")[:2]
    rows = list(gather(facts, ["My sister failed her driving test."]))
    assert {row.kind for row in rows} >= {"taught", "rewording", "paraphrase", "unknown"}
    right = {row.kind for row in rows if row.right}
    assert "taught" in right and "unknown" not in right, "that was never told"


def test_what_is_near_and_shares_rare_words_is_likelier() -> None:
    source = random.Random(0)
    rows = []
    for number in range(60):
        right = number % 2 == 0
        features = (source.gauss(0.6 if right else 0.4, 0.1), source.gauss(6 if right else 3, 1.5))
        rows.append(Asked("taught", str(number), features, right))
    bias, near, rare = fitted(rows)
    assert bias < 0 < min(near, rare)
    found = judged(rows)
    assert sum((one.likely > 0.5) == one.right for one in found) > 50
