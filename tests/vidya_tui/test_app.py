"""The app from the owner's side: keys in, words on the screen, rows in the journal."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Size

from engine.errors import VidyaError
from learning.events import Failed, LearnerState, Ready, TrainDone, TrainProgress, WorkerLost
from learning.home import Home
from learning.journal import Journal
from learning.records import Pick, Rating
from learning.requests import (
    Cancel,
    CancelTraining,
    Generate,
    Keep,
    Learn,
    OwnerActive,
    SetLearning,
    Train,
)
from tests.fakes import ScriptedTeacher
from tests.stage import TEXTS, Stage, play
from vidya_tui.app import VidyaApp
from vidya_tui.settings import Settings
from vidya_tui.widgets.candidates import CandidatePanel, CardView
from vidya_tui.widgets.conversation import ConversationView

ROOT = Path(__file__).resolve().parents[2]


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


def test_the_second_of_two_digits_is_typed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        for key in "12":
            stage.app.post_message(events.Key(key, key))
        await stage.until(lambda: stage.prompt == "2")
        assert judgements(stage) == [Pick(1, 1)]

    play(scenario, tmp_path)


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
        await stage.write("4 of them")
        assert stage.prompt == "4 of them"  # picked already
        assert judgements(stage) == [Pick(1, 2)]

    play(scenario, tmp_path, manual=True)


def test_another_pick_changes_the_first(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.sees("preferred 1 over 2, 3, 4, 5")
        await stage.say("/pick 4")
        await stage.sees("preferred 4 over 1, 2, 3, 5")
        assert judgements(stage) == [Pick(1, 4)]
        assert "one answer" not in stage.text()

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


def test_a_click_picks(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        cards = list(stage.app.chat.query(CardView))
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
        await stage.write(" and 7 more")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201ctwo answers and 7 more\u201d")
        assert stage.journal.answer(1) == "two answers and 7 more"

    play(scenario, tmp_path)


def test_a_correction_that_was_left_is_there_the_next_time(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees("What should the answer have been?")
        await stage.write(" indeed")
        await stage.press("escape")
        await stage.sees("not saved")
        assert judgements(stage) == []
        await stage.say("/correct")
        await stage.sees("one answer indeed")

    play(scenario, tmp_path)


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
        assert "^g good" not in stage.footer()
        await stage.press("1")
        await stage.until(lambda: "^g good" in stage.footer() and "^f bad" in stage.footer())
        await stage.press("ctrl+g")
        await stage.sees("rated good")
        assert judgements(stage)[-1] == Rating(1, "good")
        await stage.say("/rate bad")
        await stage.sees("rated bad")
        await stage.press("ctrl+f")
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


# ---------------------------------------------------------------- training and the learner


def test_training_shows_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/train 10")
        assert stage.teacher.sent(Train) == [Train(epochs=10)]
        stage.hear(TrainProgress(2, 10, 15, 100, 0.4142, None, 1.0, 3.0))
        await stage.sees("25 % book, epoch 2 of 10, loss 0.41, 3.0 s left")
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.sees("preferred 1")
        await stage.say("/train")
        await stage.sees("the book is being learned already")
        await stage.press("ctrl+u", "escape")
        assert stage.teacher.sent(CancelTraining) == [CancelTraining()]
        stage.hear(TrainDone(2, 15, 0.4, 0.9, 0.95, 1.5, True, False, 2))
        await stage.sees("training stopped after 2 epochs in 1.5 s: book recall 90 % \u2192 95 %")

    play(scenario, tmp_path)


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
def test_the_panel_says_what_the_learner_does(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("ready")
        stage.hear(LearnerState("gathering", 3, 9, 32, None, 0.98))
        for words in ("gathering 9 of 32", "3 lessons waiting", "book recall 98 %"):
            await stage.sees(words)
        stage.hear(LearnerState("learning", 1, 32, 32, 0.414, 0.98))
        for words in ("learning, loss 0.41", "1 lesson waiting"):
            await stage.sees(words)

    play(scenario, tmp_path, size=size)


def test_learning_can_be_off_from_the_start(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        assert stage.teacher.requests == [SetLearning(on=False)]
        stage.teacher.die()  # the next one must hear it too
        await stage.until(lambda: stage.teacher.requests == [SetLearning(on=False)] * 2)

    play(scenario, tmp_path, settings=Settings(theme="dark", learning=False))


def test_the_learner_hears_that_the_owner_types(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("hello")
        assert OwnerActive() in stage.teacher.requests

    play(scenario, tmp_path)


# ---------------------------------------------------------------- without the model


def test_the_first_frame_is_painted_before_the_teacher_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []
    start = VidyaApp._start

    def watched(app: VidyaApp) -> None:
        strips = app.screen._compositor.render_strips()
        frames.append("\n".join(strip.text for strip in strips))
        start(app)

    monkeypatch.setattr(VidyaApp, "_start", watched)

    async def scenario(stage: Stage) -> None:
        assert "Say something, or / for commands" in frames[0]

    play(scenario, tmp_path)


def test_a_message_is_taken_before_the_model_is_ready(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.sees("the model is waking up")
        await stage.say("hello")
        await stage.sees("as soon as the model is awake")
        stage.hear(Ready("10m", 1, 10_200_000, "cpu"))
        stage.teacher.finish()
        await stage.sees("3 three answers")

    play(scenario, tmp_path, manual=True, ready=False)


def test_what_was_entered_before_the_session_is_said_later(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        chat = stage.app.chat
        desk, chat._desk = chat._desk, None
        await stage.say("early")
        assert stage.prompt == "" and desk is not None
        chat.begin(desk, stage.teacher)
        await stage.sees("3 three answers")
        ask = stage.journal.latest_ask()
        assert ask is not None and ask.turns[-1].text == "early"

    play(scenario, tmp_path)


def test_a_lost_worker_is_announced_and_asked_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("1 one")
        stage.teacher.die()
        await stage.sees("nothing is lost; starting it again")
        await stage.until(lambda: len(stage.teacher.sent(Generate)) == 2)
        stage.hear(Ready("10m", 1, 10_200_000, "cpu"))
        await stage.sees("the model is back")
        assert stage.app.chat.notice.words == "the model is back"
        stage.teacher.finish()
        await stage.sees("5 five answers")

    play(scenario, tmp_path, manual=True)


def test_a_worker_that_does_not_come_back_leaves_the_app_alive(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(WorkerLost("the model's process ended with status 1", restarting=False))
        await stage.sees("nothing is lost; quit and start")
        await stage.sees("the model is gone")
        await stage.write("hello")
        assert stage.prompt == "hello"

    play(scenario, tmp_path)


def test_a_model_that_cannot_be_loaded_says_why_to_the_end(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.hear(Failed("load", "the model is damaged", "restore it"))
        stage.hear(WorkerLost("the model's process ended with status 3", restarting=False))
        await stage.sees("the model is gone")
        await stage.sees("! the model is damaged; restore it")

    play(scenario, tmp_path, ready=False)


def test_a_message_that_cannot_be_kept_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(stage: Stage) -> None:
        def full(*_: object) -> None:
            raise VidyaError("the disk is full", "make room")

        monkeypatch.setattr(stage.journal, "add_ask", full)
        await stage.say("precious words")
        await stage.sees("the disk is full; make room")
        assert stage.prompt == "precious words"

    play(scenario, tmp_path)


# ---------------------------------------------------------------- commands


def test_an_unknown_command_is_put_back_with_a_suggestion(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/trian 3")
        await stage.sees("did you mean /train?")
        assert stage.prompt == "/trian 3"
        await stage.press("ctrl+u")
        await stage.say("//etc is a folder")
        await stage.sees("You    /etc is a folder")

    play(scenario, tmp_path)


def test_commands_complete(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("/tr")
        await stage.sees("/train [EPOCHS]")
        await stage.press("tab")
        assert stage.prompt == "/train "
        await stage.press("ctrl+u")
        await stage.write("/re")
        await stage.press("escape")
        await stage.until(lambda: "/regenerate" not in stage.text())
        assert stage.prompt == "/re"

    play(scenario, tmp_path)


def test_enter_on_the_beginning_of_a_command_completes_it_first(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("/hel")
        await stage.press("enter")
        assert stage.prompt == "/help"
        await stage.press("enter")
        await stage.sees("commands")

    play(scenario, tmp_path)


def test_a_command_typed_in_a_burst_runs(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for letter in "/train":
            stage.app.post_message(events.Key("slash" if letter == "/" else letter, letter))
        stage.app.post_message(events.Key("enter", "\r"))
        await stage.until(lambda: stage.teacher.sent(Train) == [Train(epochs=None)])

    play(scenario, tmp_path)


def test_help_lists_every_command_and_key(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/help")
        for words in ("/regenerate", "/correct [TEXT]", "ctrl+end", "ctrl+g", "//text", "f8"):
            await stage.sees(words)
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path, size=(100, 80))


def test_the_palette_offers_what_works_now(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        titles = [c.title for c in stage.app.get_system_commands(stage.app.screen)]
        assert "/train" in titles and "/pick 2" not in titles
        await stage.say("hello")
        await stage.sees("5 five answers")
        titles = [c.title for c in stage.app.get_system_commands(stage.app.screen)]
        assert "/pick 2" in titles and "/rate good" not in titles
        await stage.press("ctrl+p")
        await stage.pilot.pause(0.1)
        await stage.write("/pick 2")
        await stage.sees("/pick 2")
        await stage.pilot.pause(0.3)
        await stage.press("enter")
        await stage.sees("preferred 2 over 1, 3, 4, 5")

    play(scenario, tmp_path)


def test_the_palette_stands_any_size_and_any_paste(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.pilot.resize_terminal(12, 4)
        await stage.press("ctrl+p")
        await stage.pilot.pause(0.2)
        await stage.press("down", "pagedown", "pageup", "end", "pagedown")
        await stage.pilot.resize_terminal(80, 24)
        stage.app.post_message(events.Paste("x\x9b2J"))
        await stage.sees("x\ufffd2J")
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- hostile text


HOSTILE = (
    "[red]not red[/red]",
    "a\x1b[31mb\x1b[0m\x1b]0;title\x07",
    "x\u202egnirts",
    "[/] unbalanced [b",
    "c1 \x9b31m here",
)


def test_markup_and_escape_sequences_are_shown_as_text(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("[bold]me[/bold]")
        await stage.sees("5 c1 \ufffd31m here")
        shown = stage.text()
        assert "1 [red]not red[/red]" in shown
        assert "2 a\u241b[31mb\u241b[0m\u241b]0;title\u2407" in shown
        assert "3 xgnirts" in shown
        assert "4 [/] unbalanced [b" in shown
        assert "You    [bold]me[/bold]" in shown
        assert not any(c in shown for c in ("\x1b", "\x07", "\x9b", "\u202e"))
        await stage.press("2")
        await stage.sees("Vidya  a\u241b[31mb")
        await stage.say("/correct [b]x\x1b")
        await stage.sees("will answer \u201c[b]x")
        assert "\x1b" not in stage.text()

    play(scenario, tmp_path, texts=HOSTILE)


def test_a_paste_is_harmless_and_whole(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.post_message(events.Paste("3 lines\r\nand \x1b[2J more\nlast"))
        await stage.until(lambda: stage.prompt == "3 lines\nand \u241b[2J more\nlast")
        assert "\x1b" not in stage.text()
        await stage.press("enter")
        await stage.sees("5 five answers")

    play(scenario, tmp_path)


@pytest.mark.parametrize("text", ["line\n" * 300, "\n" * 40, "x" * 5000])
def test_undo_of_more_lines_than_are_seen(tmp_path: Path, text: str) -> None:
    """The scrollbar goes before the cursor does, which is then where no line is any more."""

    async def scenario(stage: Stage) -> None:
        stage.app.post_message(events.Paste(text))
        await stage.until(lambda: stage.prompt == text)
        for size in ((80, 24), (12, 6)):
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause(0.1)
            await stage.press("ctrl+z")
            await stage.until(lambda: stage.prompt == "")
            await stage.pilot.pause(0.1)
            await stage.press("ctrl+y")
            await stage.until(lambda: stage.prompt == text)
        await stage.write("!")
        assert stage.prompt == text + "!"

    play(scenario, tmp_path)


# ---------------------------------------------------------------- sizes


LONG = tuple(" ".join([word] * 60) for word in ("alpha", "bravo", "charlie", "delta", "echo"))


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 24), (140, 40), (200, 60)])
def test_all_cards_the_prompt_and_the_keys_are_seen_at_once(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.until(lambda: not stage.app.chat.situation.streaming)
        await stage.pilot.pause(0.2)
        panel = stage.app.chat.query_one(CandidatePanel)
        for card in stage.app.chat.query(CardView):
            assert panel.region.contains_region(card.region), card.number
            assert card.region.height >= 1
        shown = stage.text()
        for number, word in enumerate(("alpha", "bravo", "charlie", "delta", "echo"), 1):
            if size[0] >= 120:
                assert f" {number} \u2500" in shown and word in shown
            else:
                assert f"\n {number} {word}" in shown
        assert size == (200, 60) or "\u2026" in shown  # long texts are cut, and say so
        assert "You    hello" in shown
        assert "Say something, or / for commands" in shown
        await stage.until(lambda: "pick" in stage.footer())

    play(scenario, tmp_path, size=size, texts=LONG)


def test_a_highlighted_card_is_shown_whole(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 echo")
        await stage.press("tab")
        await stage.sees("\u25b81 alpha")
        await stage.until(lambda: stage.text().count("alpha") == 60)

    play(scenario, tmp_path, texts=LONG)


def test_resizing_at_any_time(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        for size in ((200, 60), (60, 20), (20, 6), (121, 24), (1, 1), (80, 24)):
            stage.teacher.pump(1)
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
        stage.teacher.finish()
        await stage.sees("5 five answers")
        await stage.press("5")
        await stage.sees("preferred 5")

    play(scenario, tmp_path, manual=True)


def test_two_sizes_at_once_do_not_resize_for_ever(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.pilot.resize_terminal(100, 30)
        chat = stage.app.chat
        layouts: list[object] = []
        refresh = chat._refresh_layout

        def counted(size: Size | None = None, scroll: bool = False) -> None:
            layouts.append(size)
            if len(layouts) < 20:  # else it would go on until the end of days
                refresh(size, scroll)

        chat._refresh_layout = counted  # type: ignore[method-assign]
        for size in (Size(90, 20), Size(100, 30)):
            chat.post_message(events.Resize(size, size, size))
            chat.call_later(lambda: None)  # neighbours in the queue would become one
        await stage.pilot.pause(0.3)
        assert len(layouts) < 10
        assert chat.size == Size(100, 30)

    play(scenario, tmp_path)


@pytest.mark.parametrize("theme", ["", "dark", "light", "terminal", "terminal-light", "nord"])
def test_themes(tmp_path: Path, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)

    async def scenario(stage: Stage) -> None:
        assert stage.app.current_theme.dark is ("light" not in theme)
        await stage.say("hello")
        await stage.sees("5 five answers")

    play(scenario, tmp_path, settings=Settings(theme=theme))


def test_no_color(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def scenario(stage: Stage) -> None:
        assert stage.app.no_color
        await stage.say("hello")
        await stage.sees("3 three answers")  # a digit before its card has text is typed
        await stage.press("3")
        await stage.sees("preferred 3")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- long conversations


def test_a_long_conversation_keeps_few_widgets_and_can_be_read_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = stage.app.chat.query_one(ConversationView)
        session = stage.session
        for number in range(60):
            session.say(f"message {number}")
            stage.app._frame()
            session.pick(1)
        stage.app.chat.draw()
        await stage.sees("message 59")
        assert view.mounted_entries <= 50
        for _ in range(40):
            await stage.press("pageup")
            assert view.mounted_entries <= 75
        await stage.sees("message 0\n")
        assert not view.following
        await stage.sees("ctrl+end jumps to the end")
        await stage.say("spoken while reading back")
        await stage.sees("spoken while reading back")
        await stage.press("pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.press("ctrl+end")
        await stage.sees("spoken while reading back")
        assert view.following

    play(scenario, tmp_path)


def test_reading_back_is_not_disturbed_by_what_comes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = stage.app.chat.query_one(ConversationView)
        session = stage.session
        for number in range(20):
            session.say(f"message {number}")
            stage.app._frame()
            session.pick(1)
        session.say("the last")
        stage.teacher.finish()
        stage.app.chat.draw()
        await stage.sees("the last")
        await stage.press("pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.pilot.pause(0.2)
        before = view.scroll_y
        stage.hear(LearnerState("learning", 1, 32, 32, 0.41, 0.98))
        await stage.sees("loss 0.41")
        await stage.pilot.pause(0.2)
        assert view.scroll_y == before and not view.following

    play(scenario, tmp_path)


# ---------------------------------------------------------------- leaving


def test_ctrl_c_tells_how_to_leave(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("ctrl+c")
        await stage.sees("ctrl+q leaves")

    play(scenario, tmp_path)


@pytest.mark.parametrize("way", ["ctrl+q", "/quit"])
def test_quitting_in_the_middle_of_anything(tmp_path: Path, way: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        if way == "/quit":
            await stage.say(way)
        else:
            await stage.press(way)
        await stage.until(lambda: stage.teacher.closed)

    assert play(scenario, tmp_path, manual=True).return_code == 0


def test_quitting_from_a_modal_screen(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("f1")
        await stage.sees("commands")
        await stage.press("ctrl+q")
        await stage.until(lambda: stage.teacher.closed)

    play(scenario, tmp_path)


def test_events_that_come_while_it_closes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.session.say("late")  # what has to be drawn grows

    app = play(scenario, tmp_path)
    app.chat.take([LearnerState("gathering", 1, 2, 32)])
    assert not app.chat.conversation.is_attached


CRASH = """
import sys
from pathlib import Path
from learning.home import Home
from learning.journal import Journal
from vidya_tui.app import VidyaApp
from vidya_tui.settings import Settings

class Broken(VidyaApp):
    def _start(self):
        secret_of_the_owner = "i love broccoli"
        raise RuntimeError("boom")

home = Home(Path(sys.argv[1]))
app = Broken(home, Journal(home.journal_path), lambda on: None, Settings())
app.run(headless=True)
print(open(home.log_path).read())
sys.exit(app.return_code)
"""


def test_a_crash_shows_one_calm_message(tmp_path: Path) -> None:
    script = tmp_path / "crash.py"
    script.write_text(CRASH)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    assert "vidya stopped because of a mistake in the program" in done.stderr
    assert "Traceback" not in done.stderr and "boom" not in done.stderr
    assert "i love" not in done.stderr  # no locals
    assert "RuntimeError: boom" in done.stdout  # the log


def test_the_interface_has_no_torch() -> None:
    code = "import sys, vidya_tui.app, vidya_tui.worker; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "False", done.stderr


def test_the_first_frame_waits_for_no_more_than_it_needs() -> None:
    late = (
        "learning.messages",
        "learning.events",
        "learning.journal",
        "vidya_tui.desk",
        "sqlite3",
        "click",
    )
    code = f"""
import sys, vidya_tui.__main__, vidya_tui.opening, vidya_tui.app
print([name for name in {late!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_journal_that_cannot_be_opened_ends_the_app_with_the_reason(tmp_path: Path) -> None:
    def broken() -> Journal:
        raise VidyaError("the journal is damaged", "restore it from a copy")

    app = VidyaApp(Home(tmp_path), broken, ScriptedTeacher, Settings(theme="dark"))

    async def run() -> None:
        async with app.run_test() as pilot:
            for _ in range(100):
                if app.failure is not None:
                    break
                await pilot.pause(0.02)

    asyncio.run(run())
    assert app.return_code == 1 and "damaged" in str(app.failure)
    assert app.teacher is None
