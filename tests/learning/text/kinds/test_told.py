"""learning.text.kinds.told: what kind of fact a statement tells, and whether it is the one asked for."""

from __future__ import annotations

import pytest

from learning.text.kinds.relations import kinds, kinds_of_facts
from learning.text.kinds.told import Statement, asks_or_names, says_enough, what_is_told
from learning.text.mention import clauses


def tells(message: str, statement: str) -> bool:
    return Statement.of(clauses(statement)).tells(message)


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
        ("my phone charger is in the drawer", "Where is my phone?"),
        ("the wifi password is not hunter2", "What is the wifi password?"),
        ("my name is hard to spell", "What is my name?"),
        ("I was born in 1987", "Where was I born?"),
        ("I work at night", "Where do I work?"),
        ("My phone is on silent", "Where is my phone?"),
        ("my flight is on standby", "When is my flight?"),
        ("He said: I live in Oslo", "Where do I live?"),
        ("When I'm old, I live in Oslo", "Where do I live?"),
        ("my name is Zorg in this game", "What is my name?"),
        ("I broke my phone", "Which bone did I break?"),
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


def test_all_of_a_statement_may_be_of_known_kinds() -> None:
    told = Statement.of(clauses("I live in Bergen and my wife is called Ann"))
    assert told.whole and told.tells_something_else("What is my job?")
    assert not told.tells_something_else("What is my wife called?")
    part = Statement.of(clauses("I live in Bergen, it rains all day"))
    assert not part.whole and not part.tells_something_else("What is my job?")


def test_what_is_named_alone_is_asked_for() -> None:
    assert asks_or_names("my wife's birthday") and asks_or_names("where do I live")
    assert not asks_or_names("My favourite team lost again")
    assert not asks_or_names("my wife's birthday is in May")


def test_every_line_of_told_txt_tells_its_kind() -> None:
    of_lives = {(kind.name, line) for kind in kinds_of_facts() for line in kind.lines.get("t", ())}
    lines = [(kind, line) for kind in kinds() for line in kind.lines.get("t", ())]
    dead = [line for kind, line in lines if not says_enough(kind, line)]
    assert [x for x in dead if not any(line == x for _, line in of_lives)] == []
    assert len(lines) - len(of_lives) > 500


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        ("olgas op wat day", True),
        ("garage code pls", True),
        ("my wife's birthday", True),
        ("when is my wife's birthday", True),
        ("who knows my code?", True),
        ("my gate is red", False),
        ("my house, where I was born, is red", False),
        ("my wife hates peas", False),
        ("What a day", False),
        ("so what", False),
        ("How cool!", False),
        ("genotype", False),
        ("what the wifi password", True),
        ("how old nomvula", True),
        ("what luck", False),
        ("How nice of Helen to call", False),
        ("Tom told me who did it", False),
        ("Helen said what she wants for her birthday", False),
        ("gate code 4471", False),
        ("dog name Rex", False),
        ("ring size M", False),
        ("\U0001f44d \U0001f44d", False),
        ("cheers mate", False),
        ("ta very much", False),
    ],
)
def test_a_message_asks_in_any_spelling(message: str, asks: bool) -> None:
    assert asks_or_names(message) == asks
