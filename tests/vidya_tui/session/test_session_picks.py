"""Picking a candidate at any moment, and taking it back."""

from __future__ import annotations

import pytest

from engine.errors import VidyaError
from learning.protocol.events import CandidateDone, UndoDone
from learning.protocol.records import Candidate, Lesson, Pick
from learning.protocol.requests import Cancel, Keep, Learn, Undo
from tests.talk import TEXTS, Start, said

# ---------------------------------------------------------------- picking


def test_a_pick_becomes_the_answer_the_lesson_and_a_line_of_the_book(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    assert talk.session.pick(2) == "Good day."
    assert talk.session.turns == said("hello", "Good day.")
    assert (talk.session.answer, talk.session.waiting) == ("Good day.", False)
    assert talk.chosen == [2]
    lesson = talk.last_lesson()
    assert (lesson.kind, lesson.prompt, lesson.answer) == ("pick", said("hello"), "Good day.")
    assert lesson.rejected == ("Hello there.", "Hi!", "Hm?", "Hello you.")
    assert talk.journal.judgements(ask.id)[0].judgement == Pick(ask.id, 2)
    assert talk.book == [("hello", "Good day.")]
    assert talk.teacher.requests[1:] == [Learn()]


def test_a_reopened_talk_knows_which_answers_were_offers(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.finish()
    offer = Candidate(ask.id, 3, "Hi!", (1,), (-1.0,), "end", 1, offered=True)
    talk.session.handle(CandidateDone(offer, 12))
    talk.session.new()
    talk.session.open(ask.conversation)
    talk.session.pick(2)
    assert "Hi!" not in talk.last_lesson().rejected and len(talk.last_lesson().rejected) == 3


def test_an_offer_that_was_not_picked_is_not_rejected(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.finish()
    for index, text in ((3, "Hi!"), (4, "Hm?")):
        one = Candidate(ask.id, index, text, (1,), (-1.0,), "end", 1, offered=True)
        talk.session.handle(CandidateDone(one, 12))
    talk.session.pick(2)
    assert talk.last_lesson().rejected == ("Hello there.", "Hello you.")
    talk.session.pick(3)
    assert talk.last_lesson().answer == "Hi!"
    assert talk.last_lesson().rejected == ("Hello there.", "Good day.", "Hello you.")
    talk.session.correct("Good morning.")
    assert "Hm?" not in talk.last_lesson().rejected


def test_a_pick_that_cannot_be_is_refused_and_changes_nothing(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="no candidates wait"):
        talk.session.pick(1)
    ask = talk.session.say("hello")
    with pytest.raises(VidyaError) as caught:
        talk.session.pick(6)
    assert (caught.value.what, caught.value.next_step) == ("there is no candidate 6", "pick 1 to 5")
    with pytest.raises(VidyaError, match="candidate 1 is still empty"):
        talk.session.pick(1)
    assert talk.journal.judgements(ask.id) == []
    assert talk.session.waiting


def test_an_early_pick_is_kept_at_once_and_learned_when_it_is_whole(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    assert talk.session.pick(1) == "Hello th"
    assert talk.teacher.sent(Keep) == [Keep(ask.id, 1)]
    (judged,) = talk.journal.judgements(ask.id)
    assert (judged.judgement, judged.answer) == (Pick(ask.id, 1), "Hello th")
    assert talk.lessons == []
    assert talk.book == []
    assert talk.session.turns == said("hello", "Hello th")
    talk.teacher.pump(1)
    assert talk.session.answer == "Hello there."
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    # "Hello you." was cut to "Hello yo": seen, and not the chosen one; what is whole stands first
    assert talk.last_lesson().rejected == ("Hi!", "Hm?", "Good day", "Hello yo")
    assert talk.book == [("hello", "Hello there.")]
    assert talk.journal.answer(ask.id) == "Hello there."
    assert talk.teacher.requests[-1] == Learn()


def test_the_answer_grows_while_an_early_pick_is_written(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(1)
    talk.teacher.pump(1)
    assert talk.session.answer == "Hello th"
    assert talk.session.editable() == "Hello th"


def test_an_end_that_is_not_what_was_seen_does_not_change_the_pick(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(1)
    talk.session.handle(CandidateDone(Candidate(ask.id, 1, "Another.", (1,), (-1.0,), "end", 1)))
    assert talk.session.answer == "Hell"
    assert talk.lessons == [("pick", "Hell", "learned")]


def test_the_same_question_again_gets_a_line_of_its_own(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("hello")
    talk.session.pick(3)
    assert talk.book == [("hello", "Good day."), ("hello", "Hi!")]


def test_what_is_on_its_way_out_of_the_weights_is_not_asked_for_twice(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.journal = None  # it takes its time
    for index in (1, 2, 3):
        talk.session.pick(index)
    numbers = [lesson.id for lesson in talk.journal.lessons(kinds=("pick",))]
    assert talk.teacher.sent(Undo) == [Undo(numbers[0]), Undo(numbers[1])]
    talk.teacher.die()
    talk.session.recover()  # but a new teacher has not heard of it
    assert talk.teacher.sent(Undo)[2:] == [Undo(numbers[0]), Undo(numbers[1])]


def test_a_whole_candidate_is_picked_while_others_are_written(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.pick(3)
    assert talk.lessons == [("pick", "Hi!", "learned")]
    assert Keep(ask.id, 3) in talk.teacher.requests
    assert not talk.session.streaming


def test_a_pick_in_the_moment_its_card_is_drawn_anew_means_what_was_seen(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.reset(1, "Something else.")
    talk.teacher.finish()
    assert talk.session.answer == "Hello th"
    assert {card.index: card.text for card in talk.session.cards}[1] == "Hello th"
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.teacher.sent(Cancel) == [Cancel(ask.id)]


def test_another_pick_changes_the_answer_the_lesson_and_the_book(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    assert talk.session.pick(3) == "Hi!"
    assert talk.session.turns == said("hello", "Hi!")
    assert talk.chosen == [3]
    assert talk.lessons == [("pick", "Good day.", "undone"), ("pick", "Hi!", "learned")]
    assert talk.book == [("hello", "Hi!")]
    assert [type(request) for request in talk.teacher.requests[-2:]] == [Undo, Learn]


def test_the_same_pick_again_is_the_same_pick(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    count = len(talk.teacher.requests)
    assert talk.session.pick(2) == "Good day."
    assert len(talk.teacher.requests) == count
    assert talk.lessons == [("pick", "Good day.", "learned")]


def test_an_early_pick_can_change_to_another_one(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.pick(3)  # whole already
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hi!", "learned")]
    assert talk.session.turns == said("hello", "Hi!")
    assert talk.journal.judgements_without_lessons() == []
    assert [judged.stands for judged in talk.journal.judgements(ask.id)] == [False, True]
    assert talk.book == [("hello", "Hi!")]


def test_talking_on_after_an_early_pick_lets_it_be_finished_and_learned(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    second = talk.session.say("more")
    assert second.turns == said("hello", "Hello th", "more")
    assert Cancel(first.id) not in talk.teacher.requests
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    assert talk.journal.answer(first.id) == "Hello there."
    assert talk.book == [("hello", "Hello there.")]
    assert talk.session.waiting
    assert [card.text for card in talk.session.cards] == TEXTS


# ---------------------------------------------------------------- taking back


def test_undo_takes_a_pick_back_and_the_candidates_wait_again(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.session.undo()
    assert talk.teacher.requests[-1] == Undo(lesson.id)
    assert talk.session.waiting
    assert talk.session.turns == said("hello")
    assert talk.chosen == []
    assert talk.lessons == [("pick", "Good day.", "undone")]
    assert talk.book == []
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]


def test_undo_of_a_correction_brings_the_pick_back(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.correct("Hey!")
    talk.session.undo()
    assert talk.session.answer == "Good day."
    assert talk.chosen == [2]
    assert talk.book == [("hello", "Good day.")]
    talk.session.undo()
    assert talk.session.waiting
    assert talk.book == []
    assert [state for _, _, state in talk.lessons] == ["undone", "undone"]


def test_undo_of_an_early_pick_takes_it_back_before_it_is_a_lesson(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.undo()
    assert talk.teacher.requests[-1] == Cancel(ask.id)
    assert talk.session.waiting
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.journal.judgements_without_lessons() == []
    assert talk.teacher.sent(Undo) == []


def test_undo_reaches_back_beyond_this_conversation(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.new()
    talk.session.say("bye")
    talk.session.undo()
    assert talk.lessons == [("pick", "Good day.", "undone")]
    assert talk.book == []
    assert talk.session.waiting


def test_two_undos_in_a_row_take_two_lessons_back(start: Start) -> None:
    talk = start()
    one, two = talk.journal.add_lessons(
        [Lesson("example", said("q"), text) for text in ("one", "two")]
    )
    talk.teacher.journal = None  # it has not come round to them yet
    talk.session.undo()
    talk.session.undo()
    talk.session.undo()
    assert talk.teacher.requests == [Undo(two.id), Undo(one.id), Undo(None)]


def test_an_undo_from_elsewhere_is_shown_too(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.journal.set_lesson_state(lesson.id, "undone")
    talk.session.handle(UndoDone(lesson.id, "taken back", 9))
    assert talk.session.waiting
    assert talk.book == []


def test_only_the_line_of_this_exchange_leaves_the_book(start: Start) -> None:
    talk = start()
    talk.book_path.write_text("<|user|> hello <|assistant|> Good day.\n", "utf-8")
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.pick(3)
    talk.session.undo()
    assert talk.book == [("hello", "Good day.")]
