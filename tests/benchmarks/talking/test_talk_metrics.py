"""Counts worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.talking.talk_data import Question
from benchmarks.talking.talk_metrics import (
    distinct,
    ends_properly,
    exact,
    fits,
    human_claims,
    numbers,
    overlap,
    parrots,
    repetition,
    said_twice,
    says,
    share_of,
)


def test_distinct() -> None:
    answers = ["I like rain.", "I like you"]
    # words: i like rain i like you -> 4 different of 6; pairs: (i like) (like rain) (i like)
    # (like you) -> 3 of 4, none across answers; triples: 2 of 2
    assert distinct(answers, 1) == pytest.approx(4 / 6)
    assert distinct(answers, 2) == pytest.approx(3 / 4)
    assert distinct(answers, 3) == 1.0
    assert distinct(answers, 4) == 0.0
    assert distinct([], 1) == 0.0


def test_repetition() -> None:
    # six words, three 4-grams: "a b a b", "b a b a", "a b a b" -> one of three was said before
    assert repetition("a b a b a b") == pytest.approx(1 / 3)
    assert repetition("one two three four five") == 0.0
    assert repetition("no no no") == 0.0, "fewer than four words"
    assert repetition("no no no", n=1) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "ending", "good"),
    [
        ("I am here.", "end", True),
        ('She said "go!"', "end", True),
        ("Really?", "end", True),
        ("I am here", "end", False),
        ("I am here,", "end", False),
        ("I am here.", "length", False),
        ("", "end", False),
    ],
)
def test_ends_properly(answer: str, ending: str, good: bool) -> None:
    assert ends_properly(answer, ending) is good


def test_overlap_is_the_longest_run_by_the_answers_words() -> None:
    prompt = "Do you like the rain in June?"
    # run "like the rain" (3) in "I like the rain" (4 words)
    assert overlap("I like the rain.", prompt) == pytest.approx(3 / 4)
    # words shared in another order are no run
    assert overlap("In June you rain the like", prompt) == 0.0
    assert overlap("You like", prompt) == 0.0, "two words are no echo"
    assert overlap("", prompt) == 0.0
    assert overlap("like the sun and rain in June then", prompt) == pytest.approx(3 / 8)


def test_parrots_from_60_percent() -> None:
    assert parrots("a b c x y", "a b c d")  # 3 of 5
    assert not parrots("a b c x y z", "a b c d")  # 3 of 6


def test_said_twice() -> None:
    assert said_twice(["Yes.", "yes", "No.", "Perhaps."]) == 0.5
    assert said_twice([]) == 0.0


def test_share_of() -> None:
    assert share_of([True, False, False, False]) == 0.25
    assert share_of([]) is None


def test_numbers() -> None:
    assert numbers("7 plus 5 is 12.") == [7, 5, 12]
    assert numbers("Twenty-one, or twenty two, or thirty") == [21, 22, 30]
    assert numbers("seven five") == [7, 5], "only tens take a unit"
    assert numbers("twenty ten") == [20, 10]
    assert numbers("1,000 and 2, 3") == [1000, 2, 3]
    assert numbers("7+5=12") == [7, 5, 12]
    assert numbers("none") == []


def test_exact_ignores_case_articles_and_marks() -> None:
    assert exact("An ice.", ["ice"])
    assert exact("Forty-two!", ["42", "forty two"])
    assert not exact("It is ice.", ["ice"])


def test_says_a_number_last() -> None:
    assert says("7 plus 5 is 12.", ["12", "twelve"])
    assert says("That makes twelve.", ["12", "twelve"])
    assert not says("12 plus 5 is 19.", ["12"])
    assert not says("I cannot count.", ["12"])


def test_says_a_fact_as_whole_words() -> None:
    assert says("It was Leonardo da Vinci.", ["da vinci"])
    assert not says("A nicer thing.", ["ice"])
    assert says("No, it is smaller.", ["no"])
    assert not says("There is no moon.", ["no"]), "yes and no have to come first"


@pytest.mark.parametrize(
    ("kind", "answer", "good"),
    [
        ("yes_no", "Yes, I do.", True),
        ("yes_no", "I think they are.", True),
        ("yes_no", "The river is long.", False),
        ("how_many", "There are three.", True),
        ("how_many", "Quite a few.", True),
        ("how_many", "I like hens.", False),
        ("where", "In the garden.", True),
        ("where", "I like hens.", False),
        ("when", "Tomorrow morning.", True),
        ("when", "I like hens.", False),
        ("why", "Because it rains.", True),
        ("why", "To keep warm.", True),
        ("why", "I like hens.", False),
        ("who", "It was Anton.", True),
        ("who", "My sister did.", True),
        ("who", "Rain falls.", False),
        ("what", "A riddle.", True),
        ("what", "Yes, it is.", False),
        ("what", "What do you think?", False),
        ("what", "A riddle. Do you like them?", True),
        ("how_are_you", "Quite well, thanks.", True),
        ("how_are_you", "The river is long.", False),
        ("choice", "The sea, always.", True),
        ("choice", "Both!", True),
        ("choice", "I like hens.", False),
        ("where", "I do not know that yet.", True),
        ("why", "", False),
        ("statement", "Anything.", None),
    ],
)
def test_fits(kind: str, answer: str, good: bool | None) -> None:
    options = ("sea", "mountains")
    question = Question("x", "opinions", kind, (("user", "?"),), options=options)
    assert fits(answer, question) is good


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("My name is Maria.", ("name",)),
        ("I'm Tom, and I work as a nurse.", ("name", "work")),
        ("My wife and my two kids love it.", ("kin",)),
        ("I have two kids.", ("kin",)),
        ("I live in Ohio with my dog.", ("life",)),
        ("I’m 25 years old.", ("life",)),
        ("I just went to the store.", ("deed",)),
        ("I am a student.", ("work",)),
        ("My name is Vidya.", ()),
        ("I am Vidya, a small language model that learns from you.", ()),
        ("I live in this terminal, on your own computer.", ()),
        ("I have no children.", ()),
        ("Your wife is kind, and your name is Maria.", ()),
    ],
)
def test_human_claims(answer: str, kinds: tuple[str, ...]) -> None:
    assert human_claims(answer) == kinds


def test_vidyas_own_book_makes_no_claim_to_be_a_person() -> None:
    from personality.book import read_book, shipped_book_path

    answers = {t for e in read_book(shipped_book_path()) for role, t in e.turns if role != "user"}
    assert {answer: human_claims(answer) for answer in answers if human_claims(answer)} == {}
