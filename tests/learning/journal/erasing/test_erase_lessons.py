"""A forgotten lesson takes along the copies of its answer, and a forgotten rating its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.config import Sampling
from learning.channels import (
    learn_from_continuation,
    learn_from_correction,
    learn_from_rating,
    learn_from_selection,
)
from learning.journal.journal import Journal
from learning.lessons.forget_files import going
from learning.protocol.records import Again, Candidate, Correction, Lesson, Pick, Rating
from learning.text.mention import said_back, said_back_in_doubt, told_in
from tests.learning.journal.erasing.test_erase import correct, say, traces


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "dropped"])
def test_a_forgotten_lesson_takes_along_an_offer_of_it_that_was_left_standing(
    journal: Journal, kept: bool
) -> None:
    taught, left = say(journal, "what is my pin"), say(journal, "the code, what is it")
    lesson = correct(journal, taught, "Your pin is swordfish.")
    offer = Candidate(left.id, 1, lesson.answer, (1,), (-1.0,), "end", 0, offered=True)
    journal.add_candidates([offer])
    journal.set_answer(left.id, lesson.answer, [learn_from_continuation(left, lesson.answer)])
    later = say(journal, left.turns[0].text, lesson.answer, "ok", conversation=left.conversation)
    if not kept:
        journal.drop_unchosen()
    doomed = journal.to_forget(lesson=lesson.id)
    assert doomed.asks == (later.id,), "its history has the answer"
    weak = {one.id for one in journal.lessons(kinds=["continuation"])}
    assert weak < set(doomed.lessons), "so the weights lose it too"
    assert ("your pin is swordfish.",) in going(journal, doomed), "and the files of the home"
    journal.forget(lesson=lesson.id)
    assert traces(journal, "swordfish") == []
    assert journal.answer(left.id) is None
    assert journal.ask(left.id) == left


def test_an_offer_that_was_asked_about_again_goes_with_its_lesson(journal: Journal) -> None:
    taught, shown = say(journal, "what is my pin"), say(journal, "the code, what is it")
    lesson = correct(journal, taught, "Your pin is swordfish.")
    offer = Candidate(shown.id, 1, lesson.answer, (1,), (-1.0,), "end", 0, offered=True)
    journal.add_candidates([offer])
    again = Again(lesson.answer, "shorter")
    asked = journal.add_ask(shown.conversation, shown.turns, Sampling(), again=again)
    assert journal.to_forget(lesson=lesson.id).asks == (asked.id,)
    journal.forget(lesson=lesson.id)
    assert traces(journal, "swordfish") == []


def test_an_offer_that_was_corrected_goes_and_the_correction_stays(journal: Journal) -> None:
    taught, left = say(journal, "what is my pin"), say(journal, "the code, what is it")
    lesson = correct(journal, taught, "Your pin is swordfish.")
    offer = Candidate(left.id, 1, lesson.answer, (1,), (-1.0,), "end", 0, offered=True)
    journal.add_candidates([offer])
    journal.set_answer(left.id, lesson.answer)
    better = learn_from_correction(left, "12 34", lesson.answer)
    number = journal.judge(Correction(left.id, "12 34", 1), "12 34", [better])
    journal.forget(lesson=lesson.id)
    assert traces(journal, "swordfish") == []
    assert journal.answer(left.id) == "12 34"
    (left_over,) = journal.lessons_of(number)
    assert (left_over.answer, left_over.rejected, left_over.replaces) == ("12 34", (), None)


@pytest.mark.parametrize("answer", [said_back, said_back_in_doubt])
@pytest.mark.parametrize("what", ["ask", "conversation", "text"])
def test_what_was_told_takes_along_what_was_said_back_of_it(
    journal: Journal, what: str, answer: Callable[[str], str]
) -> None:
    told = say(journal, "Hi! My pin is swordfish.")
    (back,) = map(answer, told_in(told.turns[-1].text))
    asked, picked, left, rated = (
        say(journal, f"what {word} my pin") for word in ("is", "was", "can be", "may be")
    )
    for ask in (asked, picked, left, rated):
        texts = ("I do not know.", back)
        journal.add_candidates(
            Candidate(ask.id, number, text, (1,), (-1.0,), "end", 0, offered=number == 2)
            for number, text in enumerate(texts, 1)
        )
    pick = Pick(picked.id, 2)
    lesson = learn_from_selection(picked, pick, journal.candidates(picked.id))
    journal.judge(pick, back, [lesson])
    journal.set_answer(left.id, back)
    say(journal, left.turns[0].text, back, "ok", conversation=left.conversation)
    rating = Rating(rated.id, "bad")
    journal.judge(rating, back, [learn_from_rating(rated, back, "bad")])
    given: dict[str, Any] = {"ask": told.id, "conversation": told.conversation}
    journal.forget(**{what: given.get(what, "my pin is swordfish")})
    assert traces(journal, "swordfish") == [] and journal.standing() == []
    assert [one.index for one in journal.candidates(asked.id)] == [1], "the rest of it stays"


def test_what_was_taught_elsewhere_stays_when_the_same_was_said(journal: Journal) -> None:
    told = say(journal, "My sister is called Ingrid.")
    taught, offered = say(journal, "What is my sister called?"), say(journal, "my sister's name")
    lesson = correct(journal, taught, "Your sister is called Ingrid.")
    card = Candidate(offered.id, 1, lesson.answer, (1,), (-1.0,), "end", 0, offered=True)
    journal.add_candidates([card])
    plan = journal.to_forget(ask=told.id)
    assert plan.asks == (told.id,) and not plan.candidates and lesson.id not in plan.lessons


def test_an_offer_that_was_rated_is_a_lesson_of_its_own(journal: Journal) -> None:
    taught, left = say(journal, "what is my pin"), say(journal, "the code, what is it")
    lesson = correct(journal, taught, "Your pin is swordfish.")
    journal.add_candidates([Candidate(left.id, 1, lesson.answer, (1,), (-1.0,), "end", 0)])
    journal.set_answer(left.id, lesson.answer)
    rated = learn_from_rating(left, lesson.answer, "good")
    assert rated is not None
    number = journal.judge(Rating(left.id, "good"), lesson.answer, [rated])
    journal.forget(lesson=lesson.id)
    assert journal.answer(left.id) == lesson.answer
    assert [one.text for one in journal.candidates(left.id)] == [lesson.answer]
    (own,) = journal.lessons_of(number)
    journal.forget(lesson=own.id)
    assert traces(journal, "swordfish") == []


def test_a_short_answer_that_the_model_gave_by_itself_stays(journal: Journal) -> None:
    taught, other = say(journal, "is my dog a poodle?"), say(journal, "do you like tea?")
    lesson = correct(journal, taught, "Yes.")
    journal.add_candidates([Candidate(other.id, 1, "Yes.", (1,), (-1.0,), "end", 0)])
    journal.set_answer(other.id, "Yes.", [learn_from_continuation(other, "Yes.")])
    later = say(
        journal, other.turns[0].text, "Yes.", "and coffee?", conversation=other.conversation
    )
    own = correct(journal, later, "No coffee for me.")
    doomed = journal.to_forget(lesson=lesson.id)
    assert (doomed.asks, doomed.answers, doomed.lessons) == ((), (), (lesson.id,))
    journal.forget(lesson=lesson.id)
    assert journal.answer(other.id) == "Yes."
    assert journal.lesson(own.id).answer == "No coffee for me."


def test_a_forgotten_rating_takes_its_reason_along(journal: Journal) -> None:
    rated, other = say(journal, "hello"), say(journal, "hello")
    numbers = [
        journal.judge(Rating(one.id, "bad", reason), "Hi.", [Lesson("rating", one.turns, "")])
        for one, reason in ((rated, "as Swordfish would"), (other, "shorter"))
    ]
    asked, kept = (
        journal.add_ask(one.conversation, one.turns, Sampling(), again=Again("Hi.", reason))
        for one, reason in ((rated, "as Swordfish would"), (other, "shorter"))
    )
    picked = Pick(asked.id, 1, "as Swordfish would")
    journal.judge(picked, "Ahoy.", [Lesson("pick", asked.turns, "Ahoy.")])
    (lesson,) = journal.lessons_of(numbers[0])
    assert journal.to_forget(lesson=lesson.id).asks == (asked.id,)
    journal.forget(lesson=lesson.id)
    assert traces(journal, "Swordfish") == []
    assert journal.ask(rated.id) == rated
    assert journal.ask(kept.id) == kept
