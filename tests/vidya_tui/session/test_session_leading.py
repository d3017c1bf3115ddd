"""What the owner judges, or leaves, reaches the answers that were left standing before it."""

from __future__ import annotations

import pytest

from learning.channels import LEADING, Outcome
from learning.journal.journal import Journal
from learning.journal.lesson_list import Taught, taught, taught_ids
from learning.journal.weak import Leading
from tests.talk import Start, Talk
from vidya_tui.line_mode.screens import lessons as listed

QUESTIONS = [
    "Shall we talk?",
    "Do you like rain?",
    "Where is the sea?",
    "Who sings there?",
    "What do gulls eat?",
    "Is bread good for them?",
    "When do they sleep?",
]


def talked(start: Start, turns: int = 7) -> Talk:
    """A plain chat with every answer left standing so far, and the last one just written."""
    talk = start(candidates=1)
    talk.session.left_standing = True
    for question in QUESTIONS[:turns]:
        talk.session.say(question)
    return talk


def weights(journal: Journal) -> list[float | None]:
    """Of every waiting answer that was left standing, as a batch would have it; oldest first."""
    led = [Leading(journal).weighed(rider) for rider in journal.riders()]
    return [round(one.weight, 4) if one else None for one in led]


def shares(journal: Journal) -> list[list[tuple[Outcome, int]]]:
    """(outcome, turns later) of every answer that was left standing, oldest first."""
    return [[(s.outcome, s.turns) for s in one.shares] for one in left_standing(journal)]


def left_standing(journal: Journal) -> list[Taught]:
    rows = taught(journal, taught_ids(journal, show="unjudged"))
    return [one for one in rows[::-1] if one.lesson.kind == "continuation"]


def test_a_good_rating_at_turn_7_reaches_the_six_turns_before(start: Start) -> None:
    talk = talked(start)
    assert weights(talk.journal) == [0.1] * 6
    talk.session.rate("good")
    expected = [round(0.1 * (1 + LEADING**turns), 4) for turns in (6, 5, 4, 3, 2, 1)]
    assert weights(talk.journal) == expected == [0.15, 0.1562, 0.163, 0.1707, 0.1794, 0.1891]
    assert shares(talk.journal) == [[("good", turns)] for turns in (6, 5, 4, 3, 2, 1)]
    first = list(listed(talk.journal, ""))[-1]
    assert "counts 0.15 of a picked one: rated good 6 turns later (+0.50)" in first


@pytest.mark.parametrize("outcome", ["bad", "corrected"])
def test_what_went_wrong_weakens_what_led_there_and_teaches_nothing_against_it(
    start: Start, outcome: Outcome
) -> None:
    talk = talked(start)
    if outcome == "bad":
        talk.session.rate("bad")
    else:
        talk.session.correct("At night, on the water.")
    assert weights(talk.journal) == [0.05, 0.0438, 0.037, 0.0293, 0.0206, 0.0109]
    (judged,) = talk.journal.lessons(kinds=["rating", "correction"])
    assert judged.prompt[-1].text == QUESTIONS[-1]
    assert all(rider.answer and not rider.rejected for rider in talk.journal.riders())


def test_an_answer_that_led_to_nothing_good_is_held_back(start: Start) -> None:
    talk = talked(start, 3)
    talk.session.rate("bad")
    talk.session.say(QUESTIONS[3])
    talk.session.rate("bad")
    assert weights(talk.journal) == [None, None]
    assert all(line.count("held back") == 1 for line in list(listed(talk.journal, ""))[-2:])
    talk.session.rate("good")  # instead of bad: -0.891 + 0.793881
    assert weights(talk.journal) == [round(0.1 * (1 - LEADING**2 + LEADING**3), 4), 0.0903]


def test_leaving_for_another_talk_counts_until_the_owner_comes_back(start: Start) -> None:
    talk = talked(start, 3)
    left = talk.session.conversation
    talk.session.new()
    assert weights(talk.journal) == [0.1, 0.1], "quitting or looking around is no sign"
    talk.session.say("Something else?")
    assert shares(talk.journal) == [[("left", 2)], [("left", 1)]]
    assert weights(talk.journal) == pytest.approx([0.0603, 0.05545], abs=1e-4)
    assert left is not None
    talk.session.open(left)
    talk.session.say(QUESTIONS[3])
    assert shares(talk.journal)[:2] == [[], []]
    talk.session.rate("good")
    talk.session.new()
    talk.session.say("Again something else?")
    assert shares(talk.journal)[:2] == [[("good", 3)], [("good", 2)]], "it was judged, not left"


def test_a_pick_says_nothing_of_the_turns_before(start: Start) -> None:
    talk = talked(start, 3)
    talk.session.pick(1)
    assert weights(talk.journal) == [0.1, 0.1]


def test_undo_takes_the_shares_back_and_a_restart_keeps_them(start: Start) -> None:
    talk = talked(start, 3)
    talk.session.rate("bad")
    (rating,) = talk.journal.lessons(kinds=["rating"])
    again = start(candidates=1)
    again.session.recover()
    assert weights(again.journal) == [0.0206, 0.0109]
    again.session.take_back(rating)
    assert weights(again.journal) == [0.1, 0.1] and shares(again.journal) == [[], []]


def test_a_judgement_counts_once_however_often_it_is_given(start: Start) -> None:
    talk = talked(start, 3)
    for value in ("good", "bad", "good"):
        talk.session.rate(value, "because it is short")  # type: ignore[arg-type]
    talk.session.regenerate()  # the message once more
    talk.session.rate("good")
    assert shares(talk.journal) == [[("good", 2)], [("good", 1)]]
    talk.session.regenerate()
    assert shares(talk.journal) == [[("good", 2)], [("good", 1)]], "one not judged changes nothing"
    talk.session.correct("At night.")
    talk.session.rate("good")  # the owner's own words
    assert shares(talk.journal) == [[("corrected", 2)], [("corrected", 1)]]


def test_what_is_forgotten_reaches_nothing_any_more(start: Start) -> None:
    talk = talked(start, 4)
    talk.session.rate("good")
    last = talk.session.ask
    assert last is not None and len(shares(talk.journal)[0]) == 1
    talk.journal.forget(ask=last.id)
    assert shares(talk.journal) == [[], [], []]
    assert weights(talk.journal) == [0.1] * 3


def test_what_was_learned_before_shows_no_share_of_what_came_later(start: Start) -> None:
    talk = talked(start, 3)
    first, second = talk.journal.riders()
    talk.journal.set_lesson_state(first.id, "learned")
    talk.session.rate("good")
    talk.journal.set_lesson_state(second.id, "learned")
    assert shares(talk.journal) == [[], [("good", 1)]]
    assert [round(one.counts, 4) for one in left_standing(talk.journal)] == [0.1, 0.1891]


def test_nothing_reaches_anything_while_the_owner_does_not_want_it(start: Start) -> None:
    talk = start(candidates=1)
    for question in QUESTIONS:
        talk.session.say(question)
    talk.session.rate("good")
    assert left_standing(talk.journal) == [] and talk.journal.riders() == []
