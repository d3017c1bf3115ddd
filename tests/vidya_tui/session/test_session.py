"""vidya_tui.session.session: messages, continuing, reopening, and the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import NotFound, VidyaError
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateTexts,
    LearnerState,
    Ready,
    UndoDone,
)
from learning.protocol.model_events import WouldPick
from learning.protocol.records import Candidate, TextDelta
from learning.protocol.requests import Cancel, Foretell, Generate
from tests.talk import TEXTS, Start, Talk, said

# ---------------------------------------------------------------- asking


def test_a_message_is_journaled_with_its_rider_before_the_teacher_hears_of_it(
    start: Start,
) -> None:
    talk = start(manual=True, sampling=Sampling(temperature=0.3), candidates=3, seed=40)
    talk.session.owner_words = True
    seen: list[object] = []
    talk.teacher.send = lambda request: seen.append((request, talk.journal.latest_ask()))  # type: ignore[method-assign]
    ask = talk.session.say("  hello\n")
    assert ask.turns == said("hello")
    assert seen == [(Generate(ask.id, said("hello"), 3, Sampling(temperature=0.3), 40), ask)]
    (rider,) = talk.journal.riders()
    assert (rider.kind, rider.prompt, rider.answer) == ("owner_words", (), "hello")
    assert talk.session.turns == said("hello")
    assert (talk.session.ask, talk.session.conversation) == (ask, ask.conversation)
    assert [(card.index, card.text, card.state) for card in talk.session.cards] == [
        (number, "", "waiting") for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_nothing_cannot_be_said(start: Start, text: str) -> None:
    talk = start()
    with pytest.raises(VidyaError, match="nothing was typed"):
        talk.session.say(text)
    assert talk.teacher.requests == []
    assert talk.session.conversation is None


def test_cards_grow_and_end(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    assert talk.session.waiting
    talk.teacher.pump()
    card = talk.session.cards[0]
    assert (card.text, card.state, card.confidence) == ("Hell", "streaming", None)
    assert talk.session.streaming
    talk.teacher.finish()
    assert (card.text, card.state, card.ending, card.tokens) == ("Hello there.", "done", "end", 2)
    assert card.confidence == 0.61
    assert [card.text for card in talk.session.cards] == TEXTS
    assert [candidate.text for candidate in talk.journal.candidates(ask.id)] == TEXTS
    assert talk.session.waiting
    assert not talk.session.streaming
    assert talk.session.turns == said("hello")


def test_a_duplicate_is_drawn_anew_in_its_card(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    talk.teacher.pump(1)
    talk.teacher.reset(2, "Another.")
    assert (talk.session.cards[1].text, talk.session.cards[1].state) == ("", "waiting")
    talk.teacher.finish()
    assert talk.session.cards[1].text == "Another."


def test_events_of_no_concern_pass(start: Start) -> None:
    talk = start()
    ask = talk.session.say("hello")
    before = [card.text for card in talk.session.cards]
    for event in (
        CandidateTexts(99, (TextDelta(1, "x"),)),
        CandidateTexts(ask.id, (TextDelta(1, "late"),)),
        CandidateTexts(ask.id, (TextDelta(77, "x"),)),
        CandidateDone(Candidate(99, 1, "x", (), (), "end", 0)),
        AskDone(99, 1.0, 1.0),
        UndoDone(None, "nothing to undo", 1),
        UndoDone(99, "gone", 1),
        Ready("10m", 1, 5, "cpu"),
        LearnerState("idle"),
    ):
        talk.session.handle(event)
    assert [card.text for card in talk.session.cards] == before


def test_stop_keeps_what_there_is_and_it_can_be_picked(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    talk.teacher.pump(1)
    talk.session.stop()
    assert talk.teacher.requests[-1] == Cancel(ask.id)
    assert [(card.index, card.ending) for card in talk.session.cards] == [
        *((3, "end"), (4, "end")),
        *((1, "cancelled"), (2, "cancelled"), (5, "cancelled")),
    ]
    assert talk.session.pick(1) == "Hell"
    assert talk.lessons == [("pick", "Hell", "learned")]
    talk.session.stop()  # nothing runs: nothing is sent
    assert talk.teacher.requests.count(Cancel(ask.id)) == 1


def test_seeds_follow_each_other_so_that_asking_again_differs(start: Start) -> None:
    talk = start(seed=40)
    talk.session.say("hello")
    talk.session.regenerate()
    talk.session.say("more")
    assert [request.seed for request in talk.teacher.sent(Generate)] == [40, 41, 42]  # type: ignore[union-attr]


# ---------------------------------------------------------------- going on without judging


def test_going_on_learns_nothing_unjudged(start: Start) -> None:
    talk = start()
    for text in ("hello", "what is my dog called?", "and my cat?"):
        talk.session.say(text)
    assert talk.journal.lessons() == []


def test_an_answer_left_standing_is_a_weak_lesson_where_the_owner_wants_that(start: Start) -> None:
    talk = start()
    talk.session.owner_words = talk.session.left_standing = True
    first = talk.session.say("hello")
    second = talk.session.say("more")
    assert second.turns == said("hello", "Hello there.", "more")
    assert second.conversation == first.conversation
    assert talk.journal.answer(first.id) == "Hello there."
    assert talk.journal.judgements(first.id) == []
    assert talk.lessons == []
    assert [(rider.kind, rider.answer) for rider in talk.journal.riders()] == [
        ("owner_words", "hello"),
        ("continuation", "Hello there."),
        ("owner_words", "more"),
    ]
    assert talk.book == []


def test_going_on_while_they_are_written_takes_what_there_is_and_teaches_nothing(
    start: Start,
) -> None:
    talk = start(manual=True)
    talk.session.owner_words = talk.session.left_standing = True
    first = talk.session.say("hello")
    talk.teacher.pump(1, only=2)
    assert talk.session.say("more").turns == said("hello", "Good", "more")
    assert talk.teacher.sent(Cancel) == [Cancel(first.id)]
    assert [rider.kind for rider in talk.journal.riders()] == ["owner_words", "owner_words"]
    talk.teacher.finish()
    assert [candidate.text for candidate in talk.journal.candidates(first.id)] == [
        *("", "Good", "", "", "")
    ]
    assert [card.text for card in talk.session.cards] == TEXTS


def test_speaking_twice_before_any_answer_makes_one_message(start: Start) -> None:
    talk = start(manual=True)
    talk.session.say("hello")
    ask = talk.session.say("are you there?")
    assert ask.turns == said("hello\nare you there?")
    talk.teacher.finish()
    assert talk.session.pick(1) == "Hello there."
    assert ask.conversation is not None
    assert talk.journal.turns(ask.conversation) == said("hello\nare you there?", "Hello there.")


# ---------------------------------------------------------------- other conversations, asking anew


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


# ---------------------------------------------------------------- branches


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


# ---------------------------------------------------------------- taste


def test_the_card_that_would_have_been_picked_is_marked_after_the_pick(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    ask = talk.session.say("hello").id
    talk.session.pick(1)
    assert talk.teacher.sent(Foretell) == [], "off at first"
    talk.session.mark_taste = True
    ask = talk.session.say("and then?").id
    talk.session.handle(WouldPick(ask, 3))
    assert not any(card.liked for card in talk.session.cards), "never before the pick"
    talk.session.pick(2)
    assert talk.teacher.sent(Foretell) == [Foretell(ask)]
    talk.session.handle(WouldPick(ask - 1, 1))
    assert not any(card.liked for card in talk.session.cards), "it is about another ask"
    talk.session.handle(WouldPick(ask, 3))
    marked = [(card.index, card.facts()) for card in talk.session.cards if card.liked]
    assert marked == [(3, "1 word \u00b7 as you would pick \u00b7 \u2713")]


# ---------------------------------------------------------------- privacy


def test_candidates_that_were_not_chosen_need_not_be_kept(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.keep_unchosen = False
    first = talk.session.say("hello").id
    talk.session.pick(2)
    assert len(talk.journal.candidates(first)) == 5, "they can still be picked"
    second = talk.session.say("and then?").id
    (kept,) = talk.journal.candidates(first)
    assert kept.text == "Good day." and talk.journal.answer(first) == "Good day."
    (lesson,) = talk.journal.lessons(kinds=["pick"])
    assert lesson.answer == "Good day." and lesson.rejected == ()
    assert len(talk.journal.candidates(second)) == 5
    talk.session.new()
    assert talk.journal.candidates(second) == []


def test_a_correction_keeps_only_what_it_replaced(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.keep_unchosen = False
    talk.session.say("hello")
    talk.session.correct('Say "h\u00e9"!', 2)
    assert len(talk.last_lesson().rejected) == 5
    talk.session.new()
    (lesson,) = talk.journal.lessons(kinds=["correction"])
    assert lesson.rejected == ("Good day.",) == (lesson.replaces,)


def test_a_lesson_that_waits_keeps_what_it_needs(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.teacher.journal = None  # nothing is learned
    talk.session.keep_unchosen = False
    talk.session.say("hello")
    talk.session.pick(2)
    talk.session.new()
    (lesson,) = talk.journal.lessons(kinds=["pick"])
    assert lesson.state == "waiting" and len(lesson.rejected) == 4


def test_the_owners_words_need_not_be_learned(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.owner_words = False
    talk.session.say("hello")
    talk.session.pick(1)
    assert [item.kind for item in talk.journal.lessons()] == ["pick"]
