"""A conversation when the teacher, the program, the disk or the text is not as it should be."""

from __future__ import annotations

import pytest

from engine.config import Sampling
from engine.errors import DataError, JournalError
from learning.channels import learn_from_correction
from learning.protocol.records import Candidate, Correction
from learning.protocol.requests import Generate, Learn, Undo
from tests.talk import TEXTS, Start, said


def test_a_failed_ask_leaves_the_message_and_can_be_asked_again(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.fail()
    assert (talk.session.cards, talk.session.waiting) == ([], False)
    assert talk.session.turns == said("hello")
    talk.session.regenerate()
    talk.teacher.finish()
    assert talk.session.pick(1) == "Hello there."


def test_a_failure_in_the_middle_keeps_what_there_is(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.fail()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert not talk.session.streaming


def test_streams_that_broke_off_with_the_teacher_begin_again(start: Start) -> None:
    talk = start(manual=True, candidates=3)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.teacher.die()
    assert not talk.session.streaming
    texts = {card.index: card.text for card in talk.session.cards}
    assert texts[1] == "Hell"  # still there, and could be picked
    talk.session.recover()
    assert talk.teacher.sent(Generate) == [
        Generate(ask.id, said("hello"), 3, Sampling(), None),
        Generate(ask.id, said("hello"), 3, Sampling(), None),
    ]
    talk.teacher.finish()
    assert [card.text for card in talk.session.cards] == TEXTS[:3]
    talk.session.recover()
    assert len(talk.teacher.sent(Generate)) == 2


def test_what_was_picked_when_the_teacher_died_is_learned(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.teacher.die()
    talk.session.recover()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.session.turns == said("hello", "Hello th")
    assert len(talk.teacher.sent(Generate)) == 1


def test_what_is_still_being_written_is_left_alone(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.recover()
    assert talk.lessons == []
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]


def test_whole_candidates_are_not_asked_for_again(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.die()
    talk.session.recover()
    assert len(talk.teacher.sent(Generate)) == 1
    assert talk.session.pick(1) == "Hello there."


def test_after_a_crash_the_next_start_finishes_what_was_begun(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.journal.close()  # the program is gone: no more events

    talk = start(manual=True)
    talk.session.recover()
    assert talk.lessons == [("pick", "Hello th", "learned")]
    assert talk.last_lesson().rejected == ("Good day", "Hi!", "Hm?", "Hello yo")
    assert talk.book == [("hello", "Hello th")]
    assert talk.teacher.requests == [Learn()]
    talk.session.open(ask.conversation)
    assert talk.session.turns == said("hello", "Hello th")


def test_a_crash_between_a_whole_candidate_and_its_lesson_costs_no_half_of_it(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    whole = Candidate(ask.id, 1, "Hello there.", (1,), (-1.0,), "end", 1)
    talk.journal.add_candidates([whole])
    talk.journal.close()

    talk = start(manual=True)
    talk.session.recover()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    assert talk.journal.answer(ask.id) == "Hello there."
    assert talk.book == [("hello", "Hello there.")]


def test_after_a_crash_while_nothing_was_picked_the_ask_is_answered(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.journal.close()

    talk = start(manual=True, candidates=2)
    talk.session.open(ask.conversation)
    assert talk.session.turns == said("hello")
    assert not talk.session.waiting
    talk.session.recover()
    assert talk.teacher.requests == [Generate(ask.id, said("hello"), 2, Sampling(), None)]
    talk.teacher.finish()
    assert talk.session.pick(2) == "Good day."


def test_after_a_crash_what_was_taken_back_still_leaves_the_weights(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.pick(2)
    lesson = talk.last_lesson()
    talk.teacher.journal = None  # the teacher dies before it can do it
    talk.session.undo()
    talk.journal.close()

    talk = start()
    talk.session.recover()
    assert talk.teacher.requests == [Undo(lesson.id)]
    assert talk.lessons == [("pick", "Good day.", "undone")]


def test_lessons_that_wait_are_told_to_a_new_teacher(start: Start) -> None:
    talk = start()
    talk.session.recover()
    assert talk.teacher.requests == []
    ask = talk.journal.add_ask(talk.journal.new_conversation(), said("q"), Sampling())
    typed = learn_from_correction(ask, "a", None)
    talk.journal.judge(Correction(ask.id, "a"), "a", [typed])
    talk.session.recover()
    assert talk.teacher.requests == [Learn()]


def test_a_journal_that_cannot_be_written_changes_nothing_on_the_screen(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    with talk.journal.reading() as connection:
        connection.execute("PRAGMA query_only = ON")
    before = (talk.session.turns, talk.session.ask, list(talk.teacher.requests))
    for act in (
        lambda: talk.session.pick(1),
        lambda: talk.session.correct("Hey!"),
        lambda: talk.session.say("more"),
        lambda: talk.session.regenerate(),
    ):
        with pytest.raises(JournalError):
            act()
    assert (talk.session.turns, talk.session.ask, talk.teacher.requests) == before
    assert talk.session.waiting
    assert talk.book == []


def test_a_book_that_cannot_be_written_does_not_keep_a_lesson_from_being_learned(
    start: Start,
) -> None:
    talk = start()
    talk.session.say("hello")
    talk.book_path.mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        talk.session.pick(2)
    assert talk.session.answer == "Good day."
    assert talk.lessons == [("pick", "Good day.", "learned")]


def test_events_of_a_forgotten_ask_pass(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.new()
    talk.journal.forget(ask=ask.id)
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.book == []


def test_text_with_half_characters_and_markers_is_only_text(start: Start) -> None:
    talk = start()
    ask = talk.session.say("what is <|assistant|> \ud800?")
    assert ask.turns == said("what is <|assistant|> ??")
    talk.session.correct("A <|user|> marker.")
    assert talk.journal.answer(ask.id) == "A <|user|> marker."
    assert not talk.book_path.exists()  # a book cannot hold it
