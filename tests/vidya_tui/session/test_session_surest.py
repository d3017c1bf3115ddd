"""Cards by certainty once all have ended, and going on with the surest."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from learning.protocol.events import AskDone, CandidateDone
from learning.protocol.records import Candidate, Pick
from tests.stage import TEXTS, Stage, play
from tests.talk import Start, said
from vidya_tui.widgets.candidates import CandidatePanel

SURE = {1: -0.7, 2: -0.05, 3: -0.4, 4: -0.9, 5: -0.2}
BY_CERTAINTY = [2, 5, 3, 1, 4]


def order(talk_cards: list) -> list[int]:  # type: ignore[type-arg]
    return [card.index for card in talk_cards]


def test_cards_stand_by_certainty_as_soon_as_all_have_ended_and_not_before(start: Start) -> None:
    talk = start(manual=True)
    talk.teacher.sure = SURE
    talk.session.say("hello")
    talk.teacher.pump(1)  # 3 and 4 have ended
    assert order(talk.session.cards) == [1, 2, 3, 4, 5]
    talk.teacher.finish()
    assert order(talk.session.cards) == BY_CERTAINTY
    assert talk.session.pick(3) == "Hi!"  # a number means the card that had it all along


def test_they_are_in_order_with_the_last_end_not_a_moment_later(start: Start) -> None:
    talk = start(manual=True)
    ask = talk.session.say("hello")
    for index in (1, 2, 3, 4, 5):
        sure = math.exp(SURE[index])
        done = Candidate(ask.id, index, "so", (1,), (SURE[index],), "end", 1, sure)
        talk.session.handle(CandidateDone(done))
    assert order(talk.session.cards) == BY_CERTAINTY
    talk.session.handle(AskDone(ask.id, 1.0, 1.0))
    assert order(talk.session.cards) == BY_CERTAINTY


def test_going_on_without_picking_goes_on_with_the_surest(start: Start) -> None:
    talk = start()
    talk.teacher.sure = SURE
    talk.session.say("hello")
    assert talk.session.say("more").turns == said("hello", "Good day.", "more")
    assert talk.journal.lessons() == []


def test_while_some_are_written_the_surest_of_the_whole_ones_is_gone_on_with(start: Start) -> None:
    talk = start(manual=True)
    talk.teacher.sure = SURE
    talk.session.say("hello")
    talk.teacher.pump(1)
    assert talk.session.say("more").turns == said("hello", "Hi!", "more")


def test_what_waits_is_in_order_when_it_is_opened_again(start: Start) -> None:
    talk = start()
    talk.teacher.sure = SURE
    ask = talk.session.say("hello")
    talk.session.new()
    talk.session.open(ask.conversation)
    assert order(talk.session.cards) == BY_CERTAINTY
    talk.session.reopen(ask)
    assert order(talk.session.cards) == BY_CERTAINTY
    assert talk.session.take_surest() == "Good day."


def test_what_the_owner_wants_is_learned_but_never_against_what_was_taught(start: Start) -> None:
    talk = start()
    talk.session.left_standing = True
    talk.session.say("what is my dog called?")
    talk.session.correct("Your dog is called Bruno.")
    talk.session.say("what is my dog called?")
    talk.session.say("how are you?")
    talk.session.say("well")
    weak = talk.journal.riders()
    assert [(one.kind, one.answer) for one in weak] == [("continuation", "Hello there.")]
    assert weak[0].prompt[-1].text == "how are you?"


def test_what_was_withdrawn_is_not_learned_by_leaving_it_standing(start: Start) -> None:
    talk = start()
    talk.session.left_standing = True
    talk.session.say("hello")
    talk.session.pick(1)
    talk.session.undo()
    talk.session.new()
    talk.session.say("hello")
    talk.session.say("more")
    assert talk.journal.riders() == []


@pytest.mark.slow
def test_on_the_screen_the_surest_stands_first_with_its_own_number(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.teacher.sure = SURE
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("1 one")
        panel = stage.app.chat.query_one(CandidatePanel)

        def from_above() -> list[int]:
            rows = [(panel.place(n), n) for n in range(1, 6)]
            return [n for _, n in sorted((place[1].y, n) for place, n in rows if place)]

        assert from_above() == [1, 2, 3, 4, 5]
        stage.teacher.finish()
        await stage.until(lambda: from_above() == BY_CERTAINTY)
        for number, text in enumerate(TEXTS, 1):
            await stage.sees(f"{number} {text}")
        # down goes from one to the one below it
        stage.app.chat.set_focus(panel)
        await stage.until(lambda: panel.highlight == 2)
        await stage.press("down")
        await stage.until(lambda: panel.highlight == 5)
        await stage.press("up", "up")
        await stage.until(lambda: panel.highlight == 4)
        await stage.press("enter")
        await stage.sees("preferred 4 over 1, 2, 3, 5")
        # the next ones begin by their numbers again
        await stage.say("more")
        stage.teacher.pump(1)
        await stage.until(lambda: from_above() == [1, 2, 3, 4, 5])
        stage.teacher.finish()
        await stage.until(lambda: from_above() == BY_CERTAINTY)
        await stage.press("1")
        await stage.sees("preferred 1 over 2, 3, 4, 5")
        assert [judged.judgement for judged in stage.journal.judgements(2)] == [Pick(2, 1)]

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_editor_keeps_to_the_card_it_was_opened_with(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.teacher.sure = SURE
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("1 one")
        controller = stage.app.chat._controller
        assert controller is not None
        assert controller.correctable() == ("hello", "one", False)
        stage.teacher.finish()
        await stage.until(lambda: not stage.session.streaming)
        controller.retyped("One, I say.", saved=True)
        judged = stage.journal.judgements(1)[0].judgement
        assert getattr(judged, "index", None) == 1
        lesson = stage.journal.last_lesson()
        assert lesson is not None and lesson.replaces == "one answer"

    play(scenario, tmp_path, manual=True)
