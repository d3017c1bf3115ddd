"""vidya_tui.session.session: other conversations, asking anew, and branches."""

from __future__ import annotations

import pytest

from engine.errors import NotFound, VidyaError
from learning.protocol.requests import Cancel, Generate
from tests.talk import TEXTS, Start, said


def test_a_new_conversation_begins_with_its_first_message(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.session.new()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert (talk.session.turns, talk.session.cards, talk.session.ask) == ((), [], None)
    assert talk.session.conversation is None
    second = talk.session.say("bye")
    assert second.turns == said("bye")
    assert second.conversation != first.conversation
    assert [one.title for one in talk.journal.conversations()] == ["bye", "hello"]


def test_a_conversation_is_reopened_as_it_was_left(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("good")
    talk.session.say("more")
    talk.session.correct("Well.")
    left = talk.session.turns
    talk.session.new()
    talk.session.say("something else")
    talk.journal.close()

    talk = start()
    talk.session.open(first.conversation)
    assert talk.session.turns == left == said("hello", "Good day.", "more", "Well.")
    assert [card.text for card in talk.session.cards] == TEXTS
    assert talk.session.pick(3) == "Hi!"  # it can still be changed
    assert talk.session.turns == said("hello", "Good day.", "more", "Hi!")
    assert talk.book == [("hello", "Good day."), ("more", "Hi!")]
    assert talk.session.say("bye").turns == said("hello", "Good day.", "more", "Hi!", "bye")


def test_reopening_shows_the_rating_and_the_pick(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.rate("bad")
    talk.session.new()
    talk.session.open(ask.conversation)
    assert (talk.session.rating, talk.chosen, talk.session.answer) == ("bad", [2], "Good day.")
    with pytest.raises(NotFound):
        talk.session.open(99)
    assert talk.session.answer == "Good day."  # still here


def test_opening_the_conversation_that_streams_leaves_it_streaming(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.open(ask.conversation)
    talk.session.recover()
    assert len(talk.teacher.sent(Generate)) == 1 and not talk.teacher.sent(Cancel)
    talk.teacher.finish()
    assert [card.text for card in talk.session.cards] == TEXTS


def test_reopening_while_an_early_pick_is_written_shows_it_growing(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.new()
    talk.session.open(ask.conversation)
    assert talk.session.answer == "Hello th"
    talk.teacher.finish()
    assert talk.session.answer == "Hello there."
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    assert talk.book == [("hello", "Hello there.")]


def test_asking_anew_replaces_the_ask_and_keeps_the_rest(start: Start) -> None:
    talk = start(manual=True)
    with pytest.raises(VidyaError, match="nothing was asked yet"):
        talk.session.regenerate()
    talk.session.owner_words = True
    first = talk.session.say("hello")
    talk.teacher.pump(1)
    second = talk.session.regenerate()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert (second.turns, second.conversation) == (first.turns, first.conversation)
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words"]  # not twice
    talk.teacher.finish()
    talk.session.pick(2)
    talk.session.regenerate()
    assert talk.session.waiting
    assert talk.session.turns == said("hello")
    talk.teacher.finish()
    talk.session.pick(3)
    assert talk.book == [("hello", "Hi!")]  # one answer to one question
    assert talk.journal.turns(first.conversation) == said("hello", "Hi!")


def test_asking_anew_forgets_an_early_pick(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.regenerate()
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    talk.teacher.finish()
    assert talk.lessons == []
    assert talk.journal.judgements_without_lessons() == []
    assert talk.session.waiting


def test_an_earlier_message_is_asked_in_other_words_and_nothing_is_lost(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("more")
    talk.session.pick(1)
    assert talk.session.variants(0) == talk.session.variants(2) == (1, 1)
    edited = talk.session.edit(0, " goodbye ")
    assert (edited.turns, edited.parent) == (said("goodbye"), None)
    assert talk.session.waiting and talk.session.turns == said("goodbye")
    assert talk.session.variants(0) == (2, 2)
    talk.session.pick(3)
    talk.session.say("on")
    talk.session.turn_to(0, -1)
    assert talk.session.turns == said("hello", "Good day.", "more", "Hello there.")
    assert talk.session.variants(0) == (1, 2)
    talk.session.turn_to(0, 1)
    assert talk.session.turns == said("goodbye", "Hi!", "on")
    assert [card.text for card in talk.session.cards] == TEXTS
    with pytest.raises(VidyaError, match="2 variants"):
        talk.session.turn_to(0, 1)
    with pytest.raises(VidyaError, match="only one variant"):
        talk.session.turn_to(2, 1)
    for nowhere in (1, 3, -1):
        with pytest.raises(VidyaError, match="no message of yours"):
            talk.session.edit(nowhere, "x")
    with pytest.raises(VidyaError, match="nothing was typed"):
        talk.session.edit(0, " ")
    assert talk.book == [("hello", "Good day."), ("more", "Hello there."), ("goodbye", "Hi!")]
    assert first.conversation == talk.session.conversation


def test_the_talk_goes_on_from_the_branch_that_is_shown(start: Start) -> None:
    talk = start()
    first = talk.session.say("hello")
    talk.session.pick(2)
    talk.session.say("one")
    talk.session.edit(2, "two")
    talk.session.pick(1)
    talk.session.turn_to(2, -1)
    third = talk.session.say("three")  # the first answer to "one" is taken, unjudged
    assert third.turns == said("hello", "Good day.", "one", "Hello there.", "three")
    talk.journal.close()
    talk = start()
    talk.session.open(first.conversation)  # where it was last spoken
    assert talk.session.turns == third.turns
    assert talk.session.variants(2) == (1, 2)


def test_other_candidates_are_a_branch_too(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.teacher.texts = ["ay", "bee"]
    talk.session.regenerate()
    assert talk.session.variants(0) == (2, 2)
    talk.session.turn_to(0, -1)
    assert [card.text for card in talk.session.cards] == TEXTS and talk.session.waiting


def test_editing_while_an_early_pick_is_written_keeps_the_pick(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(2)
    talk.session.pick(1)
    talk.session.edit(0, "hello!")
    assert talk.teacher.sent(Cancel) == []
    talk.teacher.finish()
    assert talk.lessons == [("pick", "Hello there.", "learned")]
    talk.session.turn_to(0, -1)
    assert talk.session.answer == "Hello there."


def test_editing_stops_what_is_being_written(start: Start) -> None:
    talk = start(manual=True)
    first = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.edit(0, "hey")
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    talk.session.new()
    with pytest.raises(VidyaError, match="no message of yours"):
        talk.session.edit(0, "x")


def test_a_message_said_twice_goes_on_from_the_same_place(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    both = talk.session.say("are you there?")
    assert both.turns == said("hello\nare you there?") and both.parent is None
    talk.teacher.finish()
    talk.session.pick(1)
    assert talk.session.say("more").parent == both.id
