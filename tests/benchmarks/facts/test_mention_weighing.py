"""The fit of how likely a question asks for what the owner said."""

from __future__ import annotations

import random

from benchmarks.facts.everyday import TUNING, read_everyday
from benchmarks.facts.mention_weighing import Asked, fitted, gather, judged, of_everyday, of_people
from benchmarks.facts.people_data import read_people


def test_what_is_likeliest_is_found_for_each_question() -> None:
    facts = read_people("tune")[:2]
    told = ["My sister failed her driving test.", *(fact.said for fact in facts)]
    rows = list(gather(told, of_people(facts)))
    assert {row.kind for row in rows} >= {"taught", "rewording", "paraphrase", "unknown"}
    right = {row.kind for row in rows if row.right}
    assert "taught" in right and "unknown" not in right, "that was never told"


def test_everyday_facts_are_wanted_for_their_own_questions_alone() -> None:
    facts = read_everyday(TUNING)
    asked = of_everyday(facts[:1])
    assert [bool(question.wanted) for question in asked] == [True, True, True, False, False]
    measured = read_everyday()
    both = {f.said for f in facts} & {f.said for f in measured}
    assert len(both) < 2, "both writers are allergic to penicillin; all else differs"


def test_what_is_near_and_shares_rare_words_is_likelier() -> None:
    source = random.Random(0)
    rows = []
    for number in range(60):
        right = number % 2 == 0
        near, rare = source.gauss(0.6 if right else 0.4, 0.1), source.gauss(6 if right else 3, 1.5)
        other = [
            float(source.random() < (0.7 if right == wanted else 0.3)) for wanted in (False, True)
        ]
        rows.append(Asked("taught", str(number), (near, rare, other[0], other[1]), right))
    bias, near, rare, lacking, whole = fitted(rows)
    assert max(bias, lacking) < 0 < min(near, rare, whole)
    found = judged(rows)
    assert sum((one.likely > 0.5) == one.right for one in found) > 50
