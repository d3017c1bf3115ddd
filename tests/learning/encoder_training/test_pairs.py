"""Pairs of lessons and questions about them."""

from __future__ import annotations

import random

import torch

from learning.encoder_training.pairs import Pair, pairs, same_life, strangers, twins
from learning.text.context import question_and_answer
from learning.text.lives import lives


def test_each_fact_gives_a_question_and_what_it_is_found_by() -> None:
    drawn = lives(20, random.Random(0))
    facts = [fact for life in drawn for fact in life.facts]
    found = list(pairs(drawn, random.Random(1)))
    assert len(found) == len(facts)
    alone = said = 0
    for fact, pair in zip(facts, found, strict=True):
        follows = [one.question for one in (*fact.follows, *fact.right)]
        assert pair.asked in [*fact.rewordings, *fact.paraphrases, *follows, fact.question]
        whole = question_and_answer(fact.question, fact.answer)
        assert pair.known in (fact.question, whole, *fact.statements)
        alone += pair.known == fact.question
        said += pair.known in fact.statements
    assert 0.1 < alone / len(facts) < 0.3 and 0.1 < said / len(facts) < 0.3


def test_the_same_seed_gives_the_same_pairs() -> None:
    drawn = lives(3, random.Random(0))
    assert list(pairs(drawn, random.Random(1))) == list(pairs(drawn, random.Random(1)))
    assert list(pairs(drawn, random.Random(1))) != list(pairs(drawn, random.Random(2)))


def test_the_same_text_and_the_same_kind_of_fact_elsewhere_are_twins() -> None:
    pet = Pair("", "rex", "pet_name", 0)
    others = [
        Pair("", "rex", "pet_kind", 0),  # the same text
        Pair("", "odo", "pet_name", 1),  # the same kind of fact in another life
        Pair("", "tom", "pet_name", 0),  # another pet of the same owner
        Pair("", "red", "colour", 1),
    ]
    found = twins([pet, *others])
    assert found[0].tolist() == [True, True, True, False, False]
    assert torch.equal(found, found.T)


def test_strangers_are_what_no_lesson_of_their_life_answers() -> None:
    drawn = lives(6, random.Random(0))
    found = list(strangers(drawn, random.Random(1)))
    for number, life in enumerate(drawn):
        own = [one.asked for one in found if one.life == number]
        others = {text for fact in life.facts for text in fact.neighbours}
        assert own[: len(life.unknown)] == list(life.unknown)
        assert set(own[len(life.unknown) :]) <= others and len(own) == len(life.unknown) + 4
        assert not set(own) & {fact.question for fact in life.facts}
    kept = list(pairs(drawn, random.Random(1)))
    counts = same_life(kept, found).sum(1)
    assert counts.tolist() == [len(drawn[pair.life].unknown) + 4 for pair in kept]
