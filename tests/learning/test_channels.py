"""What each thing the owner does teaches; expectations written out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.config import Sampling
from learning.channels import (
    REMEMBERED,
    credit_of,
    learn_from_continuation,
    learn_from_correction,
    learn_from_human,
    learn_from_judgement,
    learn_from_rating,
    learn_from_selection,
    with_what_followed,
)
from learning.protocol.records import Ask, Candidate, Correction, Ending, Lesson, Pick, Rating, Turn

PROMPT = (Turn("user", "hello"), Turn("assistant", "Hi."), Turn("user", "who are you?"))
ASK = Ask(3, 1, PROMPT, Sampling(), None, 0.0)


def candidate(index: int, text: str, ending: Ending = "end") -> Candidate:
    return Candidate(3, index, text, (), (), ending, 0)


def test_a_pick_says_the_chosen_and_rejects_each_other_text_once() -> None:
    candidates = [
        candidate(1, " A dog. "),
        candidate(2, "I am Vidya."),
        candidate(3, ""),
        candidate(4, "A dog."),
        candidate(5, " I am Vidya. "),
    ]
    assert learn_from_selection(ASK, Pick(3, 2), candidates) == Lesson(
        kind="pick", prompt=PROMPT, answer="I am Vidya.", rejected=("A dog.",), weight=1.0
    )


def test_half_of_the_chosen_answer_is_not_rejected() -> None:
    candidates = [candidate(1, "I am", "cancelled"), candidate(2, "I am Vidya.")]
    assert learn_from_selection(ASK, Pick(3, 2), candidates).rejected == ()
    # whole, it is another answer: the owner preferred the longer one
    candidates = [candidate(1, "I am"), candidate(2, "I am Vidya.")]
    assert learn_from_selection(ASK, Pick(3, 2), candidates).rejected == ("I am",)


def test_a_lone_candidate_that_is_picked_rejects_nothing() -> None:
    lesson = learn_from_selection(ASK, Pick(3, 1), [candidate(1, "Yes.")])
    assert (lesson.answer, lesson.rejected) == ("Yes.", ())


def test_a_correction_replaces_what_stood_there() -> None:
    assert learn_from_correction(ASK, "I am Vidya.", "A dog.") == Lesson(
        kind="correction",
        prompt=PROMPT,
        answer="I am Vidya.",
        rejected=("A dog.",),
        replaces="A dog.",
    )


def test_a_correction_of_nothing_or_to_the_same_rejects_nothing() -> None:
    for old in (None, "", "I am Vidya."):
        lesson = learn_from_correction(ASK, "I am Vidya.", old)
        assert (lesson.rejected, lesson.replaces) == ((), None)


def test_ratings_are_absolute_and_weaker_than_words() -> None:
    assert learn_from_rating(ASK, "A dog.", "good") == Lesson(
        kind="rating", prompt=PROMPT, answer="A dog.", weight=0.5
    )
    assert learn_from_rating(ASK, "A dog.", "bad") == Lesson(
        kind="rating", prompt=PROMPT, answer="", rejected=("A dog.",), weight=0.5
    )
    assert learn_from_rating(ASK, "A dog.", None) is None


def test_the_owners_words_are_expected_after_what_was_said() -> None:
    assert learn_from_human(PROMPT) == Lesson(
        kind="owner_words", prompt=PROMPT[:2], answer="who are you?", weight=0.02
    )
    assert learn_from_human(PROMPT[:1]).prompt == ()


def test_going_on_is_a_weak_hint() -> None:
    assert learn_from_continuation(ASK, "I am Vidya.") == Lesson(
        kind="continuation", prompt=PROMPT, answer="I am Vidya.", weight=0.1
    )


def test_an_outcome_reaches_back_less_with_every_turn() -> None:
    assert credit_of({}) == 0.0
    assert credit_of({0: "good"}) == 1.0
    assert credit_of({1: "good"}) == pytest.approx(0.891)
    assert credit_of({2: "bad"}) == credit_of({2: "corrected"}) == pytest.approx(-0.793881)
    assert credit_of({6: "left"}) == pytest.approx(-0.5 * 0.500341, abs=1e-6)
    both = credit_of({1: "good", 2: "bad"})
    assert both == pytest.approx(0.891 - 0.793881), "they are added"


def test_what_followed_weakens_or_at_most_doubles_the_hint_and_never_turns_it_round() -> None:
    hint = learn_from_continuation(ASK, "I am Vidya.")
    for credit, weight in ((0.0, 0.1), (0.891, 0.1891), (-0.891, 0.0109), (3.0, 0.2)):
        assert with_what_followed(hint, credit) == replace(hint, weight=pytest.approx(weight))
    for credit in (-1.0, -7.0):
        assert with_what_followed(hint, credit) is None, "nothing is learned, nothing avoided"


def test_a_judgement_from_the_journal_becomes_the_lesson_it_would_have_been() -> None:
    candidates = [candidate(1, "A dog."), candidate(2, "I am V", "cancelled")]
    late = learn_from_judgement(ASK, Pick(3, 2), "I am Vid", candidates)
    assert late == Lesson(kind="pick", prompt=PROMPT, answer="I am Vid", rejected=("A dog.",))
    late = learn_from_judgement(ASK, Correction(3, "Vidya.", 1), "Vidya.", candidates)
    assert late == learn_from_correction(ASK, "Vidya.", "A dog.")
    late = learn_from_judgement(ASK, Correction(3, "Vidya."), "Vidya.", candidates)
    assert late == learn_from_correction(ASK, "Vidya.", None)
    late = learn_from_judgement(ASK, Rating(3, "bad"), "A dog.", candidates)
    assert late == learn_from_rating(ASK, "A dog.", "bad")
    assert learn_from_judgement(ASK, Rating(3, None), "A dog.", candidates) is None


def test_a_judgement_from_the_journal_does_not_reject_an_offer_of_another_lesson() -> None:
    candidates = [candidate(1, "A dog."), replace(candidate(2, "You are Max."), offered=True)]
    late = learn_from_judgement(ASK, Pick(3, 3), "I am Vidya.", candidates)
    assert late and late.rejected == ("A dog.",)
    late = learn_from_judgement(ASK, Pick(3, 2), "You are Max.", candidates)
    assert late and (late.answer, late.rejected) == ("You are Max.", ("A dog.",))


def test_a_correction_rejects_the_candidates_that_were_shown_as_a_pick_does() -> None:
    shown = [
        candidate(1, "A dog."),
        candidate(2, "I am", "cancelled"),
        candidate(3, " A cat. "),
        candidate(4, "I am Vidya."),
        candidate(5, ""),
    ]
    lesson = learn_from_correction(ASK, "I am Vidya.", "A cat.", shown)
    assert (lesson.rejected, lesson.replaces) == (("A cat.", "A dog."), "A cat.")
    lesson = learn_from_correction(ASK, "I am Vidya.", None, shown)
    assert (lesson.rejected, lesson.replaces) == (("A dog.", "A cat."), None)


def test_a_lesson_of_a_long_talk_has_the_end_of_it() -> None:
    said = [(Turn("user", f"m{n}"), Turn("assistant", f"a{n}")) for n in range(2000)]
    turns = (*(turn for pair in said for turn in pair), Turn("user", "and now?"))
    ask = Ask(9, 1, turns, Sampling(), None, 0.0)
    picked = learn_from_selection(ask, Pick(9, 1), [candidate(1, "Now this.")])
    for lesson in (
        picked,
        learn_from_correction(ask, "Now that.", None),
        learn_from_rating(ask, "Now this.", "good"),
        learn_from_continuation(ask, "Now this."),
        learn_from_human(turns),
    ):
        assert lesson is not None
        end = turns[:-1] if lesson.kind == "owner_words" else turns
        assert REMEMBERED - 1 <= len(lesson.prompt) <= REMEMBERED
        assert lesson.prompt == end[-len(lesson.prompt) :] and lesson.prompt[0].role == "user"
