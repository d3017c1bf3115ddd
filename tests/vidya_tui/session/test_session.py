"""vidya_tui.session.session: messages, continuing, reopening, and the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Sampling
from engine.errors import VidyaError
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    CandidateTexts,
    LearnerState,
    Ready,
    UndoDone,
)
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


def test_other_answers_are_wanted_where_some_were_seen(start: Start) -> None:
    talk = start()
    talk.session.say("hello")
    talk.session.regenerate()
    talk.session.regenerate("shorter please")
    talk.session.say("more")
    asked = [request for request in talk.teacher.requests if isinstance(request, Generate)]
    assert [request.others for request in asked] == [False, True, False, False]


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


def test_an_offer_that_is_left_standing_is_no_lesson(start: Start) -> None:
    talk = start(candidates=1)
    talk.session.left_standing = True
    first = talk.session.say("hello")
    talk.session.cards[0].offered = True
    talk.session.say("more")
    assert talk.journal.answer(first.id) == "Hello there."
    assert [rider.kind for rider in talk.journal.riders()] == []


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


# ---------------------------------------------------------------- taste


def test_what_was_expected_is_asked_after_a_pick_and_only_if_wanted(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.session.say("hello")
    talk.session.pick(1)
    assert talk.teacher.sent(Foretell) == [], "off at first"
    talk.session.mark_taste = True
    ask = talk.session.say("and then?").id
    assert talk.teacher.sent(Foretell) == [], "never before the pick"
    talk.session.pick(2)
    assert talk.teacher.sent(Foretell) == [Foretell(ask)]


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
