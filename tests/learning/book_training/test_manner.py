"""What an adapter learns besides the lines of a book."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.errors import DataError
from engine.tokenizers.tokenizer import Tokenizer
from learning.book_training.manner import OF_ADAPTER, OF_ALL_WEIGHTS, manner, talks
from learning.text.lives import NOT_KNOWN, lives
from personality.book import everyday_path, read_book

CONTEXT = 512


def test_the_bases_own_words_are_held_and_not_learned(
    tmp_path: Path, tiny_tokenizer: Tokenizer
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("<|user|> why is ice cold <|assistant|> Because it is frozen.\n")
    found = manner(tiny_tokenizer, own, CONTEXT, random.Random(0), OF_ADAPTER)
    (row,) = found.own
    assert row.prompt not in {other.prompt for other in found.rows}
    assert row.ids[-1] == tiny_tokenizer.chat.end and not row.target[-1], "may stop sooner"
    assert row.targets == len(tiny_tokenizer.encode("Because it is frozen."))
    own.write_text("no conversation\n")
    with pytest.raises(DataError, match="own.txt"):
        manner(tiny_tokenizer, own, CONTEXT, random.Random(0), OF_ADAPTER)


def test_everyday_talk_and_lives_are_learned_the_same_for_a_seed(tiny_tokenizer: Tokenizer) -> None:
    found = manner(tiny_tokenizer, None, CONTEXT, random.Random(3), OF_ADAPTER)
    again = manner(tiny_tokenizer, None, CONTEXT, random.Random(3), OF_ADAPTER)
    everyday = {entry.answer for entry in read_book(everyday_path())}
    assert found.own == [] and found.rows == again.rows
    assert sum(row.said in everyday for row in found.rows) > 900
    assert sum(row.said not in everyday for row in found.rows) > 8 * OF_ADAPTER.lives
    told = [row for row in found.rows if row.said not in everyday]
    assert all(row.targets == len(tiny_tokenizer.encode(row.said)) + 1 for row in told), (
        "not what she says to what she is told"
    )


def test_a_base_that_is_trained_whole_learns_ends_and_to_say_that_it_does_not_know(
    tmp_path: Path, tiny_tokenizer: Tokenizer
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("<|user|> why is ice cold <|assistant|> Because it is frozen.\n")
    whole, less = (
        manner(tiny_tokenizer, own, CONTEXT, random.Random(0), settings)
        for settings in (OF_ALL_WEIGHTS, OF_ADAPTER)
    )
    assert whole.own[0].target[-1]
    unknown = [sum(row.said == NOT_KNOWN for row in one.rows) for one in (whole, less)]
    assert unknown[0] > unknown[1] + 40


def test_what_was_told_is_answered_and_what_was_not_is_not_known() -> None:
    rng, asked, unknown = random.Random(0), 0, 0
    for life in lives(60, rng):
        answers = {fact.answer: fact.statements for fact in life.facts}
        for turns in talks(life, rng):
            said, answer = [text for role, text in turns if role == "user"], turns[-1][1]
            if answer == NOT_KNOWN:
                unknown += 1
            elif answer in answers:
                asked += 1
                assert set(said[:-1]) & set(answers[answer]), turns
    assert asked > 250
    facts = 60 * 10
    assert 0.5 * OF_ADAPTER.silent * facts + 100 < unknown < 0.7 * asked + 4 * 60
