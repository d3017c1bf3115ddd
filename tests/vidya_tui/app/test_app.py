"""The app from the owner's side: keys in, words on the screen, rows in the journal."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from learning.protocol.records import Pick, Rating
from learning.protocol.requests import Cancel, Keep, Learn
from tests.stage import TEXTS, Stage, play
from vidya_tui.widgets.candidates import CardView


def judgements(stage: Stage) -> list[object]:
    ask = stage.journal.latest_ask()
    assert ask is not None
    return [judged.judgement for judged in stage.journal.judgements(ask.id) if judged.stands]


# ---------------------------------------------------------------- saying and picking


def test_five_cards_stream_and_a_digit_picks(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        assert stage.prompt == ""
        for number, text in enumerate(TEXTS, 1):
            await stage.sees(f"{number} {text}")
        await stage.press("3")
        await stage.sees("preferred 3 over 1, 2, 4, 5")
        assert judgements(stage) == [Pick(1, 3)]
        assert "1 one answer" not in stage.text()
        await stage.sees("learned in 0.1 s")
        assert "<|user|> hello <|assistant|> three answers\n" in stage.home.book_path.read_text()

    play(scenario, tmp_path)


def test_text_appears_while_it_streams(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("1 one")
        assert "one answer" not in stage.text()
        await stage.until(lambda: "esc stop" in stage.footer())
        stage.teacher.finish()
        await stage.sees("1 one answer")
        await stage.until(lambda: "esc stop" not in stage.footer())

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_an_early_pick_keeps_its_stream_and_ends_the_others(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("2 two")
        await stage.press("2")
        await stage.sees("preferred 2 over 1, 3, 4, 5")
        assert stage.teacher.sent(Keep) == [Keep(1, 2)]
        assert stage.teacher.sent(Learn) == []
        assert "two answers" not in stage.text()
        stage.teacher.finish()
        await stage.sees("two answers")
        await stage.until(lambda: stage.teacher.sent(Learn) == [Learn()])
        assert stage.journal.answer(1) == "two answers"

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_digits_are_typed_into_a_prompt_that_is_not_empty(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.write("i have 3 apples")
        assert stage.prompt == "i have 3 apples"
        await stage.until(lambda: "pick" not in stage.footer())
        await stage.press("ctrl+u")
        await stage.until(lambda: "12345 pick" in stage.footer())
        assert judgements(stage) == []

    play(scenario, tmp_path)


def test_a_digit_right_behind_a_letter_is_typed(tmp_path: Path) -> None:
    """Keys that come in one burst, before the letter has reached the prompt."""

    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        for key in "h1":
            stage.app.post_message(events.Key(key, key))
        await stage.until(lambda: stage.prompt == "h1")
        assert judgements(stage) == []

    play(scenario, tmp_path)


def test_keys_of_a_burst_keep_their_order(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("a", "b", "left", "c", "backspace", "d", "end", "e")
        await stage.until(lambda: stage.prompt == "adbe")

    play(scenario, tmp_path)


def test_two_digits_are_a_number(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        for key in "12":
            stage.app.post_message(events.Key(key, key))
        await stage.until(lambda: stage.prompt == "12")
        assert judgements(stage) == []

    play(scenario, tmp_path)


@pytest.mark.slow
def test_digits_are_typed_where_nothing_can_be_picked(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("1")
        assert stage.prompt == "1"  # nothing was asked
        await stage.press("backspace")
        await stage.say("hello")
        await stage.write("2")
        assert stage.prompt == "2"  # the cards are still empty
        await stage.press("backspace")
        stage.teacher.pump(1)
        await stage.sees("2 two")
        await stage.write("7")
        assert stage.prompt == "7"  # there is no such card
        await stage.press("backspace", "2")
        stage.teacher.finish()
        await stage.sees("two answers")
        await stage.until(lambda: judgements(stage) == [Pick(1, 2)])
        await stage.write("4 of them")
        assert stage.prompt == "4 of them"  # picked already
        assert judgements(stage) == [Pick(1, 2)]

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_another_pick_changes_the_first(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.sees("preferred 1 over 2, 3, 4, 5")
        await stage.say("/pick 4")
        await stage.sees("preferred 4 over 1, 2, 3, 5")
        assert judgements(stage) == [Pick(1, 4)]
        # the first may still be on its way from its card; the notice names it for a while longer
        await stage.until(lambda: "Vidya  one answer" not in stage.text())

    play(scenario, tmp_path)


def test_going_on_without_a_pick_says_what_was_taken(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.say("and then")
        await stage.sees("went on with this one, unjudged")
        assert stage.journal.answer(1) == "one answer"

    play(scenario, tmp_path)


def test_the_panel_is_a_second_route(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("tab")
        await stage.sees("\u25b81 one answer")
        await stage.press("down")
        await stage.sees("\u25b82 two answers")
        await stage.press("down", "enter")
        await stage.sees("preferred 3 over 1, 2, 4, 5")
        assert stage.app.focused is stage.app.chat.prompt

    play(scenario, tmp_path)


@pytest.mark.slow
def test_letters_typed_on_the_panel_go_into_the_prompt(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("tab")
        await stage.sees("\u25b81 one answer")
        await stage.press("n", "o")
        await stage.until(lambda: stage.prompt == "no")
        assert stage.app.focused is stage.app.chat.prompt
        await stage.press("backspace", "backspace", "tab")
        await stage.sees("\u25b81 one answer")
        await stage.press("5")
        await stage.sees("preferred 5 over 1, 2, 3, 4")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_two_clicks_pick(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        cards = list(stage.app.chat.query(CardView))
        for _ in range(2):
            await stage.pilot.click(cards[3])
        await stage.sees("preferred 4 over 1, 2, 3, 5")

    play(scenario, tmp_path)


def test_others_are_asked_for(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        stage.teacher.texts = ("ay", "bee", "see", "dee", "ee")
        await stage.press("ctrl+r")
        await stage.sees("2 bee")
        assert "two answers" not in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_escape_stops_the_streams(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(2)
        await stage.sees("2 two answ")
        await stage.press("escape")
        await stage.until(lambda: stage.teacher.sent(Cancel) == [Cancel(1)])
        await stage.press("2")
        await stage.sees("preferred 2")

    play(scenario, tmp_path, manual=True)


# ---------------------------------------------------------------- correcting, rating, undoing


def test_a_correction_in_one_line(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.say("/correct good day")
        await stage.sees("will answer \u201cgood day\u201d")
        assert stage.journal.answer(1) == "good day"
        (lesson,) = stage.journal.lessons(kinds=["correction"])
        assert (lesson.replaces, lesson.rejected) == ("one answer", TEXTS)  # none of these

    play(scenario, tmp_path)


def test_a_correction_in_the_editor(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2", "f2")
        await stage.sees("What should the answer have been?")
        await stage.press("end")  # else what is typed takes the place of the answer
        await stage.write(" and 7 more")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201ctwo answers and 7 more\u201d")
        assert stage.journal.answer(1) == "two answers and 7 more"

    play(scenario, tmp_path)


@pytest.mark.slow
def test_who_types_at_once_in_the_editor_writes_the_answer_anew(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("2", "f2")
        await stage.sees("What should the answer have been?")
        await stage.write("Hello, you.")
        await stage.press("escape")
        await stage.sees("not saved")
        await stage.press("f2")  # now it is the owner's own text, and nothing is marked
        await stage.sees("Hello, you.")
        await stage.write(" Again.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cHello, you. Again.\u201d")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_correction_that_was_left_is_there_the_next_time(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees("What should the answer have been?")
        await stage.press("end")
        await stage.write(" indeed")
        await stage.press("escape")
        await stage.sees("not saved")
        assert judgements(stage) == []
        await stage.say("/correct")
        await stage.sees("one answer indeed")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_an_empty_correction_is_not_learned(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees("What should the answer have been?")
        await stage.press("f7", "backspace", "ctrl+s")
        await stage.pilot.pause()
        assert judgements(stage) == []

    play(scenario, tmp_path)


def test_ratings_are_given_changed_and_withdrawn(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.until(lambda: "pick" in stage.footer())
        assert "alt+↑ good" not in stage.footer()
        await stage.press("1")
        await stage.until(lambda: "alt+↑ good ↓ bad" in stage.footer())
        await stage.press("alt+up")
        await stage.sees("rated good")
        assert judgements(stage)[-1] == Rating(1, "good")
        await stage.say("/rate bad")
        await stage.sees("rated bad")
        await stage.press("alt+down")
        await stage.sees("rating withdrawn")
        assert stage.app.chat.situation.rating is None

    play(scenario, tmp_path)


def test_undo_takes_the_pick_back_and_offers_the_cards_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("3")
        await stage.sees("preferred 3")
        await stage.say("/undo")
        await stage.sees("lesson")
        await stage.sees("4 four answers")
        assert judgements(stage) == []
        assert "three answers" not in stage.home.book_path.read_text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_new_begins_another_conversation(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("3")
        await stage.sees("preferred 3")
        await stage.say("/new")
        await stage.until(lambda: "hello" not in stage.text())
        await stage.say("another")
        await stage.sees("1 one answer")
        assert [c.title for c in stage.journal.conversations()] == ["another", "hello"]

    play(scenario, tmp_path)


@pytest.mark.slow
def test_history_reopens_a_conversation(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for message in ("about rivers", "about hills"):
            await stage.say(message)
            await stage.sees("5 five answers")
            await stage.press("2")
            await stage.sees("preferred 2")
            await stage.press("ctrl+n")
        await stage.press("ctrl+o")
        await stage.sees("about hills")
        await stage.write("river")
        await stage.until(lambda: "about hills" not in stage.text())
        await stage.press("enter")
        await stage.sees("You    about rivers")
        assert "Vidya  two answers" in stage.text()

    play(scenario, tmp_path)
