"""learning.rewards.reward_data: what a journal says about taste, and how it is divided."""

from __future__ import annotations

import dataclasses

import pytest

from learning.journal.journal import Journal
from learning.protocol.records import Candidate, Correction, Lesson, Pick, Rating, Turn
from learning.rewards.reward_data import Opinion, Preferences, preferences, split, standing
from learning.text.normalise import fold
from tests.picks import ASKING, ask, correct, fill, judge, pick, rate


def test_a_pick_is_one_choice_among_all(journal: Journal) -> None:
    number = pick(journal, "Hello", ["Hi.", "Hm?", "Yes."], 2)
    (found,) = preferences(journal).choices
    assert found.options == ("Hi.", "Hm?", "Yes.") and found.chosen == 1 and found.shown
    assert found.judgement == number and found.prompt == (Turn("user", "Hello"),)
    assert preferences(journal).judgements == standing(journal) == {number}


def test_options_stand_as_the_cards_did(journal: Journal) -> None:
    number = ask(journal, "Hello", ["Hi.", "Hm?"])
    journal.add_candidates([Candidate(number, 2, "Hm?", (1,), (-0.5,), "end", 1, certainty=0.9)])
    judge(journal, Pick(number, 2), "Hm?")
    (found,) = preferences(journal).choices
    assert found.options == ("Hm?", "Hi.") and found.chosen == 0


def test_cancelled_empty_and_same_answers_are_no_options(journal: Journal) -> None:
    number = ask(journal, "Hello", ["Hi.", "  ", "hi .", "Yes."])
    journal.add_candidates([Candidate(number, 5, "Ye", (1,), (-0.5,), "cancelled", 1)])
    judge(journal, Pick(number, 1), "Hi.")
    (found,) = preferences(journal).choices
    assert found.options == ("Hi.", "Yes.")


def test_an_offer_counts_only_where_it_was_picked(journal: Journal) -> None:
    for picked in (1, 3):
        number = ask(journal, f"hello {picked}", ["Hi.", "Yes."])
        offer = Candidate(number, 3, "Max.", (1,), (-0.5,), "end", 1, offered=True)
        journal.add_candidates([offer])
        judge(journal, Pick(number, picked), "Hi." if picked == 1 else "Max.")
    without, with_it = preferences(journal).choices
    assert set(without.options) == {"Hi.", "Yes."}
    assert set(with_it.options) == {"Hi.", "Yes.", "Max."}


def test_none_of_these_prefers_what_was_typed(journal: Journal) -> None:
    correct(journal, "Hello", ["Hi.", "Hm?"], "Good day.")
    (found,) = preferences(journal).choices
    assert found.options == ("Hi.", "Hm?", "Good day.") and found.chosen == 2 and not found.shown


def test_ratings_are_verdicts_and_the_last_counts(journal: Journal) -> None:
    rate(journal, "Hello", "Hi.", True)
    number = ask(journal, "Bye", ["Bye."])
    judge(journal, Rating(number, "good"), "Bye.")
    judge(journal, Rating(number, "bad"), "Bye.")
    found = preferences(journal).opinions
    assert [(one.answer, one.good) for one in found] == [("Hi.", True), ("Bye.", False)]
    judge(journal, Rating(number, None), "Bye.")
    assert [one.answer for one in preferences(journal).opinions] == ["Hi."]


def test_the_last_choice_about_an_ask_counts(journal: Journal) -> None:
    number = ask(journal, "Hello", ["Hi.", "Hm?"])
    judge(journal, Pick(number, 1), "Hi.")
    judge(journal, Correction(number, "Good day."), "Good day.")
    (found,) = preferences(journal).choices
    assert found.options[found.chosen] == "Good day."


@pytest.mark.parametrize("way", ["withdrawn", "undone", "forgotten"])
def test_what_was_taken_back_is_not_there(journal: Journal, way: str) -> None:
    number = ask(journal, "Hello", ["Hi.", "Hm?"])
    lesson = Lesson("pick", (Turn("user", "Hello"),), "Hi.", ("Hm?",))
    judgement = journal.judge(Pick(number, 1), "Hi.", [lesson])
    kept = pick(journal, "Bye", ["Bye.", "No."], 1)
    before = preferences(journal)
    if way == "withdrawn":
        journal.withdraw(judgement)
    elif way == "undone":
        journal.set_lesson_state(1, "undone")
    else:
        journal.forget(ask=number)
    after = preferences(journal)
    assert [one.judgement for one in after.choices] == [kept]
    assert after.judgements == standing(journal) and after.mark != before.mark


def test_lessons_of_a_file_count_too(journal: Journal) -> None:
    asked = (Turn("user", "Hello"),)
    lessons = [
        Lesson("pick", asked, "Hi.", ("Hm?", "No.")),
        Lesson("rating", asked, "", ("Go away.",)),
        Lesson("example", asked, "Hi."),
    ]
    journal.add_lessons(lessons)
    found = preferences(journal)
    assert [(c.options, c.judgement) for c in found.choices] == [(("Hi.", "Hm?", "No."), -1)]
    assert [(v.answer, v.good) for v in found.opinions] == [("Go away.", False)]
    assert found.judgements == standing(journal) == {-1, -2}
    journal.retract(1)
    assert preferences(journal).choices == ()


def test_an_owner_who_keeps_no_other_answers_is_told_and_not_disobeyed(journal: Journal) -> None:
    picked = ask(journal, "Hello", ["Hi.", "Hm?"])
    asked = (Turn("user", "Hello"),)
    journal.judge(Pick(picked, 1), "Hi.", [Lesson("pick", asked, "Hi.", ("Hm?",), state="learned")])
    typed = ask(journal, "Bye", ["Bye.", "No."])
    lesson = Lesson(
        "correction", (Turn("user", "Bye"),), "So long.", ("Bye.", "No."), replaces="Bye."
    )
    journal.judge(Correction(typed, "So long.", 1), "So long.", [lesson])
    journal.set_lesson_state(1, "learned")
    journal.set_lesson_state(2, "learned")
    journal.drop_unchosen()
    found = preferences(journal)
    (choice,) = found.choices
    assert choice.options == ("Bye.", "So long.") and choice.chosen == 1
    assert found.alone == 1


def test_reading_order_is_suspected(journal: Journal) -> None:
    for number in range(20):
        pick(journal, f"Hello {number}", ["Hi.", "Hm?", "Yes.", "No."], 1 + 2 * (number % 5 == 0))
    found = preferences(journal)
    assert found.first == 0.8 and found.chance == 0.25 and found.read_in_order
    fill(journal, 40)
    assert not preferences(journal).read_in_order


@pytest.mark.parametrize("count", [9, 30, 120])
def test_no_message_is_on_both_sides(journal: Journal, count: int) -> None:
    fill(journal, count)
    for number in range(12):  # one that is asked in many conversations
        pick(journal, "Hello!" if number % 2 else "hello", [ASKING[number % 4], "Yes."], 1)
        rate(journal, "Hello", f"Hi {number}.", True)
    parts = split(preferences(journal))
    sides = [
        {fold(one.prompt[-1].text) for one in (*side.choices, *side.opinions)}
        for side in (parts.train, parts.held_out)
    ]
    assert not sides[0] & sides[1]
    talks = [{one.conversation for one in side.choices} for side in (parts.train, parts.held_out)]
    assert not talks[0] & talks[1]
    assert 0.1 * count <= len(parts.held_out.choices) <= 0.35 * (count + 12)
    assert split(preferences(journal)) == parts, "the same every time"


def test_one_long_conversation_is_divided_by_messages(journal: Journal) -> None:
    talk = journal.new_conversation()
    for number in range(40):
        pick(journal, f"Hello {number}", ["Hi.", "Hm?"], 1, talk)
    parts = split(preferences(journal))
    assert len(parts.held_out.choices) == 8 and len(parts.train.choices) == 32


def test_a_very_long_conversation_is_not_held_out_whole(journal: Journal) -> None:
    fill(journal, 30)
    for name in ("a", "b", "c"):
        talk = journal.new_conversation()
        for number in range(100):
            pick(journal, f"Hello {name} {number}", ["Hi.", "Hm?"], 1, talk)
    assert len(split(preferences(journal)).train.choices) >= 0.6 * 330


def test_the_mark_changes_with_everything_that_is_learned() -> None:
    verdict = Opinion((Turn("user", "Hello"),), "Hi.", True, 1, 1)
    one = Preferences((), (verdict,))
    other = Preferences((), (dataclasses.replace(verdict, good=False),))
    assert len({one.mark, other.mark, Preferences().mark}) == 3
