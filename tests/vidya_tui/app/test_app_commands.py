"""Commands, the palette and hostile text in the app."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.widgets import OptionList

from learning.protocol.requests import Train
from tests.stage import Stage, play
from vidya_tui.screens.help import HelpScreen
from vidya_tui.screens.palette import Palette

# ---------------------------------------------------------------- commands


def test_copying_a_talk_in_which_nothing_was_said_leaves_the_clipboard(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.copy_to_clipboard("the owner's")
        await stage.say("/copy all")
        await stage.sees("nothing was said yet")
        assert stage.app.clipboard == "the owner's"

    play(scenario, tmp_path)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_help_lists_every_command_and_key(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/help")
        for words in ("/regenerate", "/correct [TEXT]", "ctrl+end", "alt+up", "//text", "f8"):
            await stage.sees(words)
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path, size=(100, 96))


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_enter_struck_twice_in_the_palette_carries_the_command_out_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        app = stage.app
        await stage.press("ctrl+p")
        await stage.until(lambda: isinstance(app.screen, Palette))
        await stage.write("/help")
        listed = app.screen.query_one(OptionList)
        await stage.until(lambda: listed.option_count == 1)
        await stage.press("down")
        await stage.until(lambda: listed.highlighted == 0)
        listed.action_select()  # the second before the first is seen to
        listed.action_select()
        await stage.until(lambda: isinstance(app.screen, HelpScreen))
        await stage.pilot.pause(0.2)
        assert len(app.screen_stack) == 2
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "help",
        "settings",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("model", "history", "book", "lessons", "progress")
        ),
    ],
)
def test_a_screen_left_twice_takes_no_other_with_it(tmp_path: Path, name: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say(f"/{name}")
        await stage.until(lambda: stage.app.screen is not stage.app.chat)
        await stage.pilot.pause(0.1)
        above = stage.app.screen
        above.dismiss()
        above.dismiss()
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        await stage.write("still here")
        assert stage.prompt == "still here"

    play(scenario, tmp_path)


# ---------------------------------------------------------------- hostile text


HOSTILE = (
    "[red]not red[/red]",
    "a\x1b[31mb\x1b[0m\x1b]0;title\x07",
    "x\u202egnirts",
    "[/] unbalanced [b",
    "c1 \x9b31m here",
)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_paste_is_harmless_and_whole(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.post_message(events.Paste("3 lines\r\nand \x1b[2J more\nlast"))
        await stage.until(lambda: stage.prompt == "3 lines\nand \u241b[2J more\nlast")
        assert "\x1b" not in stage.text()
        await stage.press("enter")
        await stage.sees("5 five answers")

    play(scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["line\n" * 300, "\n" * 40, "x" * 5000])
def test_undo_of_more_lines_than_are_seen(tmp_path: Path, text: str) -> None:
    """The scrollbar disappears before the cursor moves, so the cursor is below the last line for a moment."""

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
