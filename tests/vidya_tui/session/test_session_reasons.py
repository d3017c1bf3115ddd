"""Asking again with a reason, and ratings with one."""

from __future__ import annotations

import pytest

from engine.errors import VidyaError
from learning.journal.lesson_list import taught, taught_ids
from learning.protocol.records import Again, Lesson, Pick, Rating
from learning.protocol.requests import Generate
from tests.talk import Start, Talk, said


def test_asking_again_sends_the_answer_and_the_reason_and_stores_no_turn(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    ask = talk.session.regenerate(" shorter\n please ")
    again = Again("Good day.", "shorter please")
    assert talk.teacher.sent(Generate)[-1].again == again == ask.again
    assert talk.teacher.sent(Generate)[-1].turns == said("hello") == talk.session.turns
    assert talk.journal.ask(ask.id) == ask
    assert talk.session.waiting


def test_picking_one_teaches_it_instead_of_the_old_answer(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    ask = talk.session.regenerate("shorter please")
    talk.session.pick(3)
    lesson = talk.last_lesson()
    assert (lesson.prompt, lesson.answer) == (said("hello"), "Hi!")
    assert (lesson.rejected, lesson.replaces) == (("Good day.",), "Good day.")
    (judged,) = talk.journal.judgements(ask.id)
    assert judged.judgement == Pick(ask.id, 3, "shorter please")
    assert [one.id for one in talk.journal.reasons()] == [judged.id]
    assert talk.session.turns == said("hello", "Hi!")
    assert talk.book == [("hello", "Hi!")]
    talk.session.undo()
    assert talk.journal.reasons() == []


def test_other_candidates_are_asked_for_with_the_same_reason(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(1)
    first = talk.session.regenerate("shorter please")
    assert talk.session.regenerate().again == first.again


def test_the_surest_candidate_is_meant_while_none_is_chosen(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    surest = talk.session.cards[0].said
    assert talk.session.regenerate("friendlier").again == Again(surest, "friendlier")


def test_there_must_be_an_answer_to_have_something_against(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="nothing was asked yet"):
        talk.session.regenerate("shorter")
    talk.session.say("hello")
    with pytest.raises(VidyaError, match="there is no answer yet"):
        talk.session.regenerate("shorter")
    assert len(talk.teacher.sent(Generate)) == 1


def test_a_rating_has_its_reason_in_the_journal(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("good", "because it is short")
    assert talk.journal.judgements(ask.id)[-1].judgement == Rating(
        ask.id, "good", "because it is short"
    )
    talk.session.rate("good")  # nothing new: the reason stays
    (judged,) = talk.journal.reasons()
    assert talk.journal.reasons_given() == {judged.id: "because it is short"}
    talk.session.rate(None)
    assert talk.journal.reasons() == []


def test_a_bad_rating_leaves_its_reason_to_the_pick_that_follows(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad", "shorter please")
    assert [one.judgement.ask for one in talk.journal.reasons()] == [ask.id]
    again = talk.session.regenerate("shorter please")
    talk.session.pick(3)
    assert [one.judgement.ask for one in talk.journal.reasons()] == [again.id]


def test_the_bad_rating_for_which_it_was_asked_again_can_be_withdrawn(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    assert not talk.session.withdraw_earlier(), "it is rated now, and was not asked again"
    talk.session.rate("bad", "shorter please")
    rated = talk.last_lesson()
    assert talk.book == []
    talk.session.regenerate("shorter please")
    talk.session.regenerate()
    assert talk.session.withdraw_earlier()
    assert talk.journal.lesson(rated.id) not in talk.journal.standing()
    standing = [one.judgement for one in talk.journal.judgements(ask.id) if one.stands]
    assert standing == [Pick(ask.id, 2), Rating(ask.id, None)]
    assert talk.book == [("hello", "Good day.")], "it is the answer that was picked"
    assert not talk.session.withdraw_earlier()
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]


def test_an_answer_that_was_chosen_since_is_the_one_to_rate(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad", "shorter please")
    talk.session.regenerate("shorter please")
    talk.session.pick(3)
    assert not talk.session.withdraw_earlier()
    talk.session.rate(None)
    assert len(talk.journal.ratings()) == 1


def carried_over(talk: Talk) -> Lesson:
    """An answer to another message, under the pick of a message that was asked again."""
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.regenerate("shorter please")
    talk.session.pick(3)
    (judged,) = talk.journal.reasons()
    lesson = Lesson("reason", said("bye"), "Bye.", ("Good bye to you.",))
    return talk.journal.add_lessons([lesson], judged.id, judged.judgement.ask)[0]


def test_undo_of_the_pick_takes_back_what_it_was_carried_over_to(start: Start) -> None:
    talk = start()
    lesson = carried_over(talk)
    talk.session.undo()
    assert talk.journal.lesson(lesson.id).state == "undone"


def test_one_answer_it_was_carried_over_to_is_taken_back_alone(start: Start) -> None:
    talk = start()
    lesson = carried_over(talk)
    talk.session.take_back(lesson)
    assert talk.journal.lesson(lesson.id).state == "undone"
    assert talk.session.answer == "Hi!" and len(talk.journal.reasons()) == 1
    assert [row.lesson.kind for row in taught(talk.journal, taught_ids(talk.journal))][
        0
    ] == "reason"
