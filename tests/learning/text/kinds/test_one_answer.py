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
        ("I do not know that yet.", "Your sister lives in Oslo.", False),
        ("Your sister lives in Oslo.", "I do not know that yet.", True),
        ("She moved from Oslo to Bergen.", "Your sister lives in Oslo.", True),
        ("She lives in Oslo now.", "Your sister lives in Oslo.", False),
        ("In a white house in Paris.", "In a white house in Århus.", True),
        ("In a white house in Oslo, with Per.", "In a white house in Oslo.", False),
        ("your sister lives in oslo", "Your sister lives in Oslo.", False),
    ],
)
def test_an_answer_says_otherwise(answer: str, earlier: str, otherwise: bool) -> None:
    assert says_otherwise(HOME, answer, TOWN, earlier) is otherwise


def test_yes_and_no_are_compared_as_they_are() -> None:
    first, second = "Am I a vegetarian?", "am i vegetarian"
    assert says_otherwise(second, "No.", first, "Yes.")
    assert not says_otherwise(second, "yes", first, "Yes.")
    assert not says_otherwise(second, "Yes, since May.", first, "Yes, you do not eat meat.")
    assert says_otherwise(second, "No, not any more.", first, "Yes.")
    street = "What is my address?", "In which street is my flat?"
    assert says_otherwise(street[0], "No. 7, Elm Road.", street[1], "No. 5, Elm Road.")


@pytest.mark.parametrize(
    ("first", "answer", "second", "other"),
    [
        ("When is my birthday?", "On 3 May 1980.", "What date is my birthday?", "On 4 May 1980."),
        ("What is my phone number?", "0171 555 12", "Tell me my phone number.", "0171 555 98"),
        ("When do I get up?", "At 7:30 am.", "When do I wake up?", "At 7:45 am."),
        ("Who is my manager?", "Dr Ada Berg.", "What is my boss called?", "Dr Ada Lund."),
    ],
)
def test_another_number_or_name_is_another_answer(
    first: str, answer: str, second: str, other: str
) -> None:
    assert asks_for_one(first) == asks_for_one(second) != frozenset()
    assert says_otherwise(second, other, first, answer)
    assert not says_otherwise(second, f"It is this: {answer}", first, answer)


@pytest.mark.parametrize(
    ("question", "another"),
    [
        ("What is my name?", "Who am I?"),
        ("What is my brother called?", "Who is my brother?"),
        ("What is my phone number?", "What's my mobile number?"),
        ("Which company do I work for?", "Where do I work?"),
        ("What is our song?", "Do we have a song?"),
        ("How far is Oslo from Rome?", "How many kilometres are between Oslo and Rome?"),
        ("In which cupboard is the flour?", "Which shelf is the flour on?"),
        ("What is our secret password?", "What is our code word?"),
        ("Does my son eat nuts?", "May my son eat nuts?"),
        ("When did I buy my bike?", "Where did I buy that bike?"),
    ],
)
def test_questions_of_one_kind_that_may_have_different_right_answers(
    question: str, another: str
) -> None:
    assert not asks_for_one(another)
    assert asks_for_one(question) != asks_for_one("Where do I live?")


def test_a_pronoun_may_stand_for_whom_the_question_names() -> None:
    met = "Where did my sister meet her partner?"
    assert asks_for_one(met) == asks_for_one("In which town did my sister meet her partner?")
    assert asks_for_one(met) and not asks_for_one("How old is that?")


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
    taught_again = [*pairs, (TOWN, rome)]
    assert changed_by(taught_again) == {0: 3, 2: 3}, "as the question itself is answered since"
    assert changed_by([*taught_again, (TOWN, rome), (third, oslo)]) == {0: 5, 2: 5, 3: 5, 4: 5}
    assert changed_by(pairs, 3) == {} and changed_by(pairs, 2) == {0: 2}
    assert changed_by([]) == {}


def test_now_at_the_end_asks_for_the_same_unless_its_kind_has_it() -> None:
    live = asks_for_one("Where does my sister live?")
    assert live
    for question in (
        *("Where does my sister live now?", "In which town does my sister live these days?"),
        *("where does my sister live at the moment", "where does my sister live right now"),
    ):
        assert asks_for_one(question) == live, question
    assert asks_for_one("Where is my sister now?") != live
