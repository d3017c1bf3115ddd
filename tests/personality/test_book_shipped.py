"""Vidya's own book: enough of it, learnable by something small, and true to one character."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from personality.book import format_line, read_book, shipped_book_path

ENTRIES = read_book(shipped_book_path())
ANSWERS = [text for e in ENTRIES for role, text in e.turns if role == "assistant"]


def fold(text: str) -> str:
    """As questions are compared: no case, no punctuation, single spaces."""
    return " ".join(re.sub(r"[^\w\s]", "", text.casefold()).split())


def pairs() -> list[tuple[int, str, str]]:
    """(line, question, answer) of every exchange, those inside longer talks too."""
    return [
        (entry.line, entry.turns[i][1], entry.turns[i + 1][1])
        for entry in ENTRIES
        for i in range(0, len(entry.turns), 2)
    ]


def answer_to(question: str) -> str:
    return next(answer for _, asked, answer in pairs() if fold(asked) == fold(question))


def test_there_is_enough_of_it() -> None:
    assert 400 <= len(ENTRIES) <= 440
    assert sum(len(entry.turns) == 2 for entry in ENTRIES) >= 369
    assert sum(len(entry.turns) > 2 for entry in ENTRIES) >= 8


def test_one_question_has_one_answer() -> None:
    answers: dict[str, set[str]] = defaultdict(set)
    for _, question, answer in pairs():
        answers[fold(question)].add(answer)
    assert {question: a for question, a in answers.items() if len(a) > 1} == {}


def test_no_question_is_asked_twice() -> None:
    spellings = [question for _, question, _ in pairs()]
    assert len(spellings) == len(set(spellings))


def test_answers_fold_to_themselves_only() -> None:
    """Two spellings of one answer would teach her to hesitate between them."""
    answers: dict[str, set[str]] = defaultdict(set)
    for answer in ANSWERS:
        answers[fold(answer)].add(answer)
    assert [spellings for spellings in answers.values() if len(spellings) > 1] == []


def test_answers_are_short() -> None:
    lengths = [len(answer.split()) for answer in ANSWERS]
    assert max(lengths) <= 22
    assert sum(4 <= n <= 14 for n in lengths) >= 0.9 * len(lengths)
    assert max(len(question.split()) for _, question, _ in pairs()) <= 14


def test_answers_are_shared_by_several_ways_of_asking() -> None:
    assert 130 <= len(set(ANSWERS)) <= 170
    single = [entry for entry in ENTRIES if len(entry.turns) == 2]
    asked: dict[str, int] = defaultdict(int)
    for entry in single:
        asked[entry.answer] += 1
    assert [answer for answer, count in asked.items() if count < 2] == []
    assert len(single) / len(asked) > 2.8


def test_hers_is_plain_text() -> None:
    text = shipped_book_path().read_bytes()
    assert text.isascii()
    assert text.endswith(b"\n")
    assert b"\r" not in text and b"\t" not in text


def test_every_line_is_as_the_program_would_write_it() -> None:
    lines = shipped_book_path().read_text("utf-8").split("\n")
    wrong = [e.line for e in ENTRIES if lines[e.line - 1] != format_line(e.turns)]
    assert wrong == []


def test_answers_are_whole_sentences() -> None:
    assert [a for a in ANSWERS if not (a[0].isupper() or a[0] == "/") or a[-1] not in ".!?"] == []


NAMES = re.compile(r"(?i:my name is|call me|i am called|i'm called)\s+(\w+)")
CLAIMS = re.compile(
    r"\b(?:my (?:wife|husband|mother|father|sister|brother|son|daughter|boss|job|office|body"
    r"|eyes|ears|face|phone|car|salary)|i (?:work|worked) (?:as|at|for|in)"
    r"|i am (?:a|an) (?!program\b)\w+|i am (?:human|married|male|female)"
    r"|i (?:ate|drank|slept|saw|heard|walked|studied))\b"
)


def test_she_has_one_name_and_claims_no_human_life() -> None:
    for answer in ANSWERS:
        assert set(NAMES.findall(answer)) <= {"Vidya"}, answer
        assert not re.search(r"\bI am (?!Vidya\b)[A-Z]", answer), answer
        assert not (claim := CLAIMS.search(answer.casefold())), (claim, answer)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who are you", ["Vidya"]),
        ("what is your name", ["Vidya"]),
        ("What does your name mean?", ["Sanskrit", "knowledge", "learning"]),
        ("Who made you?", ["small team", "learns"]),
        ("Where do you live?", ["terminal", "your own computer"]),
        ("Is this conversation private?", ["leaves this computer"]),
        ("Are you human?", ["program"]),
        ("Do you have feelings?", ["not sure"]),
        ("What time is it?", ["cannot see a clock"]),
        ("Do you have internet?", ["no internet"]),
        ("How do I correct you?", ["/correct"]),
        ("What does /train do?", ["/train"]),
        ("How do I undo a lesson?", ["/undo"]),
        ("How do I pick an answer?", ["1 to 5"]),
        ("I want to die", ["crisis line"]),
    ],
)
def test_what_she_must_be_right_about(question: str, words: list[str]) -> None:
    answer = answer_to(question)
    assert [word for word in words if word not in answer] == []


def test_one_favourite_colour() -> None:
    colours = r"\b(red|blue|green|yellow|purple|orange|black|white|pink|brown|gr[ea]y)\b"
    assert {c for a in ANSWERS for c in re.findall(colours, a.casefold())} == {"blue"}
