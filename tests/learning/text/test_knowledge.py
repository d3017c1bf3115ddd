"""learning.text.knowledge: conversations of common knowledge."""

from __future__ import annotations

import random

import pytest

from learning.text.kinds.articles import with_article
from learning.text.knowledge import conversation, filled, question, relations


def test_there_are_thirty_relations_with_over_a_thousand_facts() -> None:
    assert len(relations()) >= 20
    assert sum(len(relation.pairs) for relation in relations()) > 1_200


def test_every_relation_asks_and_tells_and_has_whole_pairs() -> None:
    for relation in relations():
        assert relation.asks and relation.tells, relation.name
        assert bool(relation.asks_back) == bool(relation.tells_back), relation.name
        assert all(x and y and x == x.strip() and y == y.strip() for x, y in relation.pairs)
        assert len(set(relation.pairs)) == len(relation.pairs), relation.name


def test_frames_are_filled_completely() -> None:
    for relation in relations():
        x, y = relation.pairs[0]
        for frames in (
            relation.asks,
            relation.tells,
            relation.asks_back,
            relation.tells_back,
            relation.asks_whether,
            relation.states,
        ):
            assert not [frame for frame in frames if "{" in filled(frame, x, y)], relation.name


def test_a_wrong_yes_or_no_is_denied_with_what_is_right() -> None:
    young = next(relation for relation in relations() if relation.name == "young")
    rng, seen = random.Random(1), set[str]()
    for _ in range(200):
        asked, answer = question(young, rng)
        if answer.startswith(("Yes", "No")):
            x = next(x for x, _ in young.pairs if f"baby {x} " in asked)
            is_so = any(with_article(y) in asked for y in young.of[x])
            assert answer.startswith("Yes, a ") == is_so and any(y in answer for y in young.of[x])
            seen.add(answer[:2])
    assert seen == {"Ye", "No"}


@pytest.mark.parametrize("seed", range(30))
def test_a_conversation_asks_and_answers_or_is_a_text(seed: int) -> None:
    turns, text = conversation(random.Random(seed))
    assert conversation(random.Random(seed)) == (turns, text)
    assert bool(turns) != bool(text)
    assert all(asked and answer[0].isupper() for asked, answer in turns)


def test_what_is_excluded_is_not_asked() -> None:
    asked = set[str]()

    def excluded(question: str) -> bool:
        asked.add(question)
        return True

    for seed in range(50):
        turns, _ = conversation(random.Random(seed), excluded)
        assert not [text for text, _ in turns if text in asked]
    assert asked


def test_articles_and_capitals() -> None:
    assert filled("{A X} is {a Y}.", "owl", "bird") == "An owl is a bird."
    assert filled("{Xs} is in {Y}.", "the Netherlands", "Europe") == "The Netherlands is in Europe."
