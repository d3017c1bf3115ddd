"""Retyping and rating an answer."""

from __future__ import annotations

from functools import partial

import pytest

from engine.errors import VidyaError
from learning.protocol.records import Correction, Pick, Rating
from learning.protocol.requests import Cancel, Learn
from learning.text.blame import last_sentence, these_words
from tests.talk import Start, said

# ---------------------------------------------------------------- correcting


def test_a_correction_of_waiting_candidates_becomes_the_answer(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    assert talk.session.editable() == "Hell"
    assert talk.session.correct(" Hey, owner!\n") == "Hey, owner!"
    assert talk.session.turns == said("hello", "Hey, owner!")
    assert not talk.session.waiting
    assert talk.chosen == []
    lesson = talk.last_lesson()
    assert (lesson.kind, lesson.answer) == ("correction", "Hey, owner!")
    assert (lesson.rejected, lesson.replaces) == (("Hell", "Good", "Hi!", "Hm?"), "Hell")
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hey, owner!", 1)
    assert talk.teacher.sent(Cancel) == [Cancel(ask.id)]
    assert talk.teacher.requests[-1] == Learn()
    assert talk.book == [("hello", "Hey, owner!")]


def test_finishing_a_half_written_answer_oneself_does_not_reject_its_beginning(
    start: Start,
) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.correct("Hello, owner!")
    assert talk.last_lesson().rejected == ("Good", "Hi!", "Hm?")
    assert talk.last_lesson().replaces is None


def test_the_same_after_the_streams_were_stopped(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.stop()
    talk.session.correct("Hello, owner!")  # in place of the first that is shown, a whole one
    assert talk.last_lesson().rejected == ("Hi!", "Hm?", "Good")


def test_a_correction_can_begin_with_any_of_the_candidates(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    assert talk.session.editable(3) == "Hi!"
    talk.session.correct("Hi, owner!", 3)
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hi, owner!", 3)
    lesson = talk.last_lesson()
    assert lesson.replaces == "Hi!"
    assert lesson.rejected == ("Hi!", "Hello there.", "Good day.", "Hm?", "Hello you.")


def test_a_candidate_that_is_typed_once_more_is_not_rejected(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.correct("Hm?", 3)
    lesson = talk.last_lesson()
    assert lesson.answer == "Hm?"
    assert lesson.rejected == ("Hi!", "Hello there.", "Good day.", "Hello you.")


def test_a_candidate_without_a_text_is_not_retyped(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1, only=2)
    assert talk.session.editable(1) == "" and talk.session.editable() == "Good"
    talk.session.correct("Hey!", 1)
    assert talk.journal.judgements(ask.id)[0].judgement == Correction(ask.id, "Hey!", None)
    assert (talk.last_lesson().replaces, talk.last_lesson().rejected) == (None, ("Good",))


def test_a_correction_of_the_answer_replaces_it_in_talk_and_book(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    assert talk.session.editable() == "Good day."
    talk.session.correct("Good evening.")
    assert talk.session.turns == said("hello", "Good evening.")
    assert talk.last_lesson().replaces == "Good day."
    assert talk.lessons == [
        ("pick", "Good day.", "learned"),
        ("correction", "Good evening.", "learned"),
    ]
    assert talk.book == [("hello", "Good evening.")]
    talk.session.correct("Good night.")
    assert talk.last_lesson().replaces == "Good evening."
    assert talk.book == [("hello", "Good night.")]
    count = len(talk.teacher.requests)
    assert talk.session.correct("Good night.") == "Good night."  # nothing new
    assert len(talk.teacher.requests) == count


def test_a_correction_of_an_early_pick_takes_its_place(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.correct("Hey!")
    talk.teacher.finish()
    assert talk.lessons == [("correction", "Hey!", "learned")]
    assert talk.session.answer == "Hey!"
    assert talk.journal.judgements_without_lessons() == []


def test_a_candidate_can_be_picked_after_a_correction(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.correct("Hey!")
    assert talk.session.pick(2) == "Good day."
    assert talk.session.turns == said("hello", "Good day.")
    assert talk.lessons[-1] == ("pick", "Good day.", "learned")
    assert [state for _, _, state in talk.lessons] == ["undone", "undone", "learned"]
    assert talk.book == [("hello", "Good day.")]


def test_typing_the_answer_that_was_left_standing_teaches_it(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.say("how are you?")  # goes on with the surest, which nobody judged
    talk.session.reopen(ask)
    left = talk.session.answer
    assert left and talk.journal.judgements(ask.id) == []
    talk.session.correct(left)
    lesson = talk.last_lesson()
    assert (lesson.kind, lesson.answer, lesson.rejected) == ("correction", left, ())
    assert talk.book == [("hello", left)]
    talk.session.correct(left)  # now it was taught
    assert len(talk.journal.judgements(ask.id)) == 1


def test_a_correction_needs_a_text_and_something_to_correct(start: Start) -> None:
    talk = start()
    assert talk.session.editable() == ""
    with pytest.raises(VidyaError, match="nothing to correct yet"):
        talk.session.correct("Hey!")
    talk.session.say("hello")
    with pytest.raises(VidyaError, match="the correction is empty"):
        talk.session.correct("  ")
    assert talk.session.waiting


# ---------------------------------------------------------------- rating


def test_a_rating_is_given_changed_and_withdrawn(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("good")
    assert talk.session.rating == "good"
    assert talk.lessons[-1] == ("rating", "Good day.", "learned")
    count = len(talk.teacher.requests)
    talk.session.rate("good")
    assert len(talk.teacher.requests) == count
    talk.session.rate("bad")
    assert str(talk.session.rating) == "bad"
    assert talk.lessons[1:] == [("rating", "Good day.", "undone"), ("rating", "", "learned")]
    assert talk.last_lesson().rejected == ("Good day.",)
    talk.session.rate(None)
    assert talk.session.rating is None
    assert [state for _, _, state in talk.lessons] == ["learned", "undone", "undone"]
    assert talk.journal.judgements(ask.id)[-1].judgement == Rating(ask.id, None)
    assert talk.session.answer == "Good day."


def test_what_is_rated_bad_leaves_the_book_until_it_no_longer_is(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    assert talk.book == []
    talk.session.rate(None)
    assert talk.book == [("hello", "Good day.")]


def test_a_rating_is_of_the_text_it_was_given_to(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    talk.session.correct("Hey!")
    assert talk.session.rating is None
    talk.session.rate("good")
    assert [lesson[:1] + lesson[2:] for lesson in talk.lessons] == [
        ("pick", "learned"),
        ("rating", "learned"),
        ("correction", "learned"),
        ("rating", "learned"),
    ]


def test_there_must_be_a_whole_answer_to_rate(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="no answer to rate yet"):
        talk.session.rate("good")
    talk.session.say("hello")
    talk.teacher.pump(1)
    with pytest.raises(VidyaError, match="no answer to rate yet"):
        talk.session.rate("good")
    talk.session.pick(1)
    with pytest.raises(VidyaError, match="still being written"):
        talk.session.rate("good")
    talk.teacher.finish()
    talk.session.rate("good")
    assert talk.session.rating == "good"


def test_in_plain_chat_a_rating_takes_the_only_answer(start: Start) -> None:
    talk = start(candidates=1)
    talk.session.owner_words = talk.session.left_standing = True
    talk.session.say("hello")
    talk.session.rate("good")
    assert talk.session.turns == said("hello", "Hello there.")
    assert talk.session.say("more").turns == said("hello", "Hello there.", "more")
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words", "owner_words"]


def test_a_part_of_a_bad_answer_is_blamed(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.correct("Good day. Go away.")
    with pytest.raises(VidyaError, match="does not have the words"):
        talk.session.rate("bad", part=partial(these_words, words="Come back"))
    assert talk.session.rating is None and len(talk.lessons) == 1
    for _ in range(2):  # the second changes nothing
        talk.session.rate("bad", part=last_sentence)
    talk.session.rate("bad", part=partial(these_words, words="Good day. Go away."))
    talk.session.rate("good", part=last_sentence)
    _, part, whole, good = talk.session.journal.lessons()
    assert (part.rejected, part.blame) == (("Good day. Go away.",), (10, 18))
    assert (whole.rejected, whole.blame) == (("Good day. Go away.",), None)
    assert (good.answer, good.blame) == ("Good day. Go away.", None)
    assert [judged.stands for judged in talk.session.standing()] == [True, True]


def test_any_candidate_can_be_rated_and_the_chosen_answer_stays(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    for value in ("bad", "bad", "good"):  # the second says nothing new
        talk.session.rate(value, index=3)
    talk.session.rate("good")
    assert talk.session.answer == "Good day." and talk.session.rating == "good"
    stand = [one for one in talk.journal.judgements(1) if one.stands]
    assert [(one.judgement, one.answer) for one in stand] == [
        (Pick(1, 2), "Good day."),
        (Rating(1, "good"), "Hi!"),
        (Rating(1, "good"), "Good day."),
    ]
    assert len(talk.journal.judgements(1)) == 4
    with pytest.raises(VidyaError, match="no answer to rate"):
        talk.session.rate("good", index=9)
