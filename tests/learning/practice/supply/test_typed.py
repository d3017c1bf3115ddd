"""Words of a typed line, with spaces in some of them."""

from __future__ import annotations

import pytest

from learning.practice.supply.typed import split_typed, typed_word


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", ()),
        ("  chain_sum   max_terms=3, ", ("chain_sum", "max_terms=3,")),
        ("syllogism 'forms=all,some not' x=1", ("syllogism", "forms=all,some not", "x=1")),
        ("forms='all,some not', x=1", ("forms=all,some not,", "x=1")),
        ('"forms=all,some not" x=1', ("forms=all,some not", "x=1")),
        ('forms="all,some not" x=1', ('forms="all,some not"', "x=1")),
        ('operators=["+", "-"], x={"a": [1, 2]}', ('operators=["+", "-"],', 'x={"a": [1, 2]}')),
        ("topic=don't x='y z", ("topic=don't", "x='y", "z")),
        ('operators=["+", x="y z', ('operators=["+",', 'x="y', "z")),
        ("a= 5 =b " + 'c="' + "[" * 5000, ("a=", "5", "=b", 'c="' + "[" * 5000)),
        ("deep=" + "[" * 100_000, ("deep=" + "[" * 100_000,)),
    ],
)
def test_spaces_in_quotes_and_in_json_end_no_word(line: str, words: tuple[str, ...]) -> None:
    assert split_typed(line) == words


@pytest.mark.parametrize(
    "word",
    ["max_terms=3", 'operators=["+","-"]', 'operators=["+", "-"]', "topic=don't", 'x="5"', "a=b,c"],
)
def test_what_is_one_word_without_more_quotes_gets_none(word: str) -> None:
    assert typed_word(word) == word


@pytest.mark.parametrize(
    "word",
    [
        *("forms=all,some not", "x='a b'", "x=it's so", '"', 'say "a b"', "a\nb", "x='5'", ""),
        *('x="a', "x='a", 'x=["a",', "'"),
    ],
)
def test_other_words_are_quoted_and_read_back(word: str) -> None:
    assert typed_word(word) != word
    assert split_typed(f"before {typed_word(word)} after") == ("before", word, "after")
    line = " ".join(typed_word(one) for one in (word, word, "y='\"]"))
    assert split_typed(line) == (word, word, "y='\"]")
