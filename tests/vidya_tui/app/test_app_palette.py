"""The palette of commands, over the chat and beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stage import Stage, play
from tests.typed import OPENS, answered, edited, stands
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.book import BookScreen
from vidya_tui.screens.help import HelpScreen


def titles(stage: Stage) -> set[str]:
    return {command.title for command in stage.app.get_system_commands(stage.app.screen)}


@pytest.mark.slow
def test_the_palette_beside_the_chat_goes_back_to_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await answered(stage)
        for name in ("lessons", "history", "curve", "settings"):
            await stage.say(f"/{name}")
            await stands(stage, OPENS[name])
            assert {"/new", "/copy", "/copy all", "/practice", "/export", "keys"} <= titles(stage)
            await stage.press("ctrl+p")
            await stage.pilot.pause(0.1)
            await stage.write("/book")
            await stage.sees("/book")
            await stage.pilot.pause(0.3)
            await stage.press("enter")
            await stands(stage, BookScreen)
            assert len(stage.app.screen_stack) == 2, name
            await stage.press("escape")
            await stage.sees("preferred 3")

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_palette_closes_nothing_that_is_being_typed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await answered(stage)
        await stage.say("/correct")
        await stage.sees("What should the answer have been?")
        await stage.press("end")
        await stage.write(" indeed")
        assert titles(stage) == {"/help", "/quit", "theme", "keys"}
        await stage.press("ctrl+p")
        await stage.pilot.pause(0.1)
        await stage.write("help")
        await stage.sees("/help")
        await stage.pilot.pause(0.3)
        await stage.press("enter")
        await stands(stage, HelpScreen)
        assert titles(stage) == {"/help", "/quit", "theme", "keys"}
        await stage.press("escape")
        await stage.sees("three answers indeed")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cthree answers indeed\u201d")

    play(scenario, tmp_path, manual=True)


def test_the_palette_has_every_command_that_needs_nothing_more(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await edited(stage)
        now = stage.app.chat.situation
        bare = {f"/{command.name}" for command in COMMANDS if command.bare and command.when(now)}
        assert bare <= titles(stage) and {"/copy", "/practice", "/branch"} <= bare
        assert "/rate" not in titles(stage) and "/pick" not in titles(stage)

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_nothing_of_the_keys_beneath_stands_behind_the_palettes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("five answers")
        await stage.press("1")
        for _ in range(12):
            await stage.until(lambda: stage.footer().endswith("palette"))
            await stage.pilot.resize_terminal(stage.app.size.width + 1, 24)
            await stage.still(2)

    play(scenario, tmp_path)
