"""When a later answer changes an earlier one to a question in other words."""

from __future__ import annotations

import pytest

from learning.text.kinds.one_answer import asks_for_one, changed_by, says_otherwise

TOWN, HOME = "Where does my sister live?", "In which town is my sister's home?"


def test_questions_with_one_answer_are_the_same_folded_or_not() -> None:
    assert asks_for_one(TOWN) == asks_for_one("in which town is my sisters home") != frozenset()
    assert asks_for_one("Where does my brother live?") != asks_for_one(TOWN)
    for several in ("Tell me a joke.", "Which door does the goose use?", "What is my hobby?"):
        assert asks_for_one(several) == frozenset(), several


@pytest.mark.parametrize(
    ("answer", "earlier", "otherwise"),
    [
        ("She lives in Bergen.", "Your sister lives in Oslo.", True),
        ("She lives in Oslo, near the harbour.", "Your sister lives in Oslo.", False),
        ("In Oslo.", "Your sister lives in Oslo, near the harbour.", False),
        ("Your sister does not live in Oslo.", "Your sister lives in Oslo.", True),
        ("I do not know that yet.", "Your sister lives in Oslo.", True),
        ("your sister lives in oslo", "Your sister lives in Oslo.", False),
    ],
)
def test_an_answer_says_otherwise(answer: str, earlier: str, otherwise: bool) -> None:
    assert says_otherwise(HOME, answer, TOWN, earlier) is otherwise


def test_yes_and_no_are_compared_as_they_are() -> None:
    first, second = "Am I a vegetarian?", "am i vegetarian"
    assert says_otherwise(second, "No.", first, "Yes.")
    assert not says_otherwise(second, "yes", first, "Yes.")


def test_the_last_answer_counts() -> None:
    oslo, bergen, rome = (f"Your sister lives in {town}." for town in ("Oslo", "Bergen", "Rome"))
    third = "Which city does my sister live in?"
    pairs = [(TOWN, oslo), ("What is my hobby?", "Chess."), (HOME, bergen)]
    assert changed_by(pairs) == {0: 2}
    assert changed_by([*pairs, (third, rome)]) == {0: 3, 2: 3}
    assert changed_by([*pairs, (third, oslo)]) == {0: 3, 2: 3}
    assert changed_by([(TOWN, oslo), (TOWN, bergen)]) == {}, (
        "the same question: the last one is kept"
    )
    assert changed_by([]) == {}
