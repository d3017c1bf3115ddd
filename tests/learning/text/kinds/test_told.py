"""learning.text.kinds.told: what kind of fact a statement tells, and whether it is the one asked for."""

from __future__ import annotations

import pytest

from learning.text.kinds.told import tells_what_is_asked, what_is_told


def tells(message: str, statement: str) -> bool:
    return tells_what_is_asked(message, what_is_told(statement))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("I work as a nurse at the county hospital", "What do I do for a living?"),
        ("my name is Tom", "what's my name"),
        ("I am Beatrice", "What am I called?"),
        ("our neighbour is called Mr Huber", "What is my neighbour's name?"),
        ("my favourite colour is green", "what's my favorite color?"),
        ("yesterday we moved to Oslo", "Where do I live?"),
        ("my brother has moved to Canada last year", "In which town does my brother live?"),
        ("my sister Clara got married in June", "When did my sister marry?"),
        ("my brother Colin is a plumber", "What does Colin do for a living?"),
        ("Mum lives in Whitby, by the harbour", "Which town is my mother's home in?"),
        ("my name is Tom and my wife is called Ann", "What is my wife called?"),
        ("Helen and I got married on the 12th of June", "When did I get married?"),
        ("I now live in Oslo", "Where is my home?"),
        ("our dog is called Bruno", "What's our dog's name?"),
        ("my cat is three years old", "How old is my cat?"),
        ("my mum comes from Poland", "Where is my mother from?"),
        ("I keep the spare key under the flower pot", "Where is the spare key?"),
        ("I'm a vegetarian", "Do I eat meat?"),
        ("my wife plays the cello", "Which instrument does my wife play?"),
        ("the wifi password is bluebird42", "What is the wifi password?"),
    ],
)
def test_a_plain_statement_tells_what_is_asked(statement: str, message: str) -> None:
    assert tells(message, statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("I work as a nurse at the county hospital", "Where do I live?"),
        ("my sister works as a nurse", "What do I do for a living?"),
        ("my boss is called Mrs Lindqvist", "What is my mother's name?"),
        ("my brother-in-law lives in Oslo", "Where does my brother live?"),
        ("my favourite colour is green", "What is my favourite dish?"),
        ("our dog is called Bruno", "What is our cat called?"),
        ("my neighbours dog is called Bella", "What is my dog called?"),
        ("our dog is called Bruno", "How old is our dog?"),
        ("I don't live in Oslo any more", "Where do I live?"),
        ("I used to live in Oslo", "Where do I live?"),
        ("my friend says I live in Oslo", "Where do I live?"),
        ("I am tired", "What is my name?"),
        ("you live in Oslo", "Where do I live?"),
        ("I live in Oslo", "Where do you live?"),
        ("I love Mondays", "What is my favourite food?"),
    ],
)
def test_nothing_else_does(statement: str, message: str) -> None:
    assert not tells(message, statement)


def test_what_is_told_has_its_kind_person_and_things() -> None:
    told = what_is_told("my brother lives in Bergen since May")
    assert {(fact.kind, fact.person) for fact in told} == {("lives_in", "brother")}
    assert "bergen" in {text for fact in told for _, text in fact.things}
    assert what_is_told("it rained all day") == frozenset()
    assert what_is_told("word " * 500) == frozenset()
