"""At 80x24 everything that matters fits or wraps: the line of keys, the header, the lists, the menu."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.stage import Stage, play
from vidya_tui.commands.table import COMMANDS
from vidya_tui.screens.help import room_rows
from vidya_tui.widgets.completion import around
from vidya_tui.widgets.learner_panel import fitting


@pytest.mark.slow
def test_how_to_leave_and_help_are_always_there(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        def shown() -> bool:
            return "f1 help" in stage.footer() and "^q quit" in stage.footer()

        await stage.until(shown)
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.until(shown)
        await stage.press("3")
        await stage.until(lambda: "f8 undo" in stage.footer() and shown())
        await stage.pilot.resize_terminal(50, 24)
        await stage.until(shown)

    play(scenario, tmp_path)


def test_the_header_leaves_whole_parts_out() -> None:
    words = "practising syllogism, step 24 of 100, 15 min left \u00b7 book recall 98 %"
    assert fitting(words, 80) == words
    assert fitting(words, 60) == "practising syllogism, step 24 of 100, 15 min left"
    assert fitting(words, 40) == "practising syllogism, step 24 of 100"
    assert fitting(words, 10).endswith("\u2026")


@pytest.mark.slow
def test_every_command_is_told_in_full_in_the_menu(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("slash")
        for command in COMMANDS:
            words = command.help.split()
            await stage.sees(f"\u25b8 {command.usage}")
            menu = stage.app.chat.completions.region
            strips = stage.strips()[menu.y : menu.bottom]
            inside = " ".join(
                strip.crop(menu.x, menu.right).text.strip("\u2502 \u256d\u256e\u2570\u256f\u2500")
                for strip in strips
            ).split()
            run = " ".join(inside)
            assert all(word in run for word in words), (command.name, stage.text())
            assert menu.bottom <= 20 and menu.y >= 0
            await stage.press("down")

    play(scenario, tmp_path)


def test_practice_offers_every_task_with_what_it_is(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.write("/practice ")
        await stage.sees("sums and differences: 4 + 3")
        await stage.sees("whether a statement follows from two others")
        await stage.write("follows")
        await stage.sees("propositional_logic")
        await stage.until(lambda: "chain_sum" not in stage.text())

    play(scenario, tmp_path)


@pytest.mark.parametrize("heights", itertools.product((1, 2, 3), repeat=4))
def test_the_rows_around_one(heights: tuple[int, ...]) -> None:
    for at, most in itertools.product(range(4), (3, 4, 8)):
        rows = around(heights, at, most)
        assert at in rows and sum(heights[n] for n in rows) <= max(most, heights[at])


@pytest.mark.slow
def test_a_lesson_shows_its_answer_behind_a_long_question(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("What did I tell you about the old bridge over the river last summer?")
        await stage.sees("5 five answers")
        await stage.say("/correct It was closed.")
        await stage.sees("learned in")
        await stage.press("alt+l")
        await stage.sees("\u2192 It was closed.")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_the_palette_finds_commands_by_what_they_do(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("ctrl+p")
        await stage.sees("Search for commands")
        await stage.write("earlier weights")
        await stage.sees("/model")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_the_help_of_a_list_says_each_key_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("3")
        await stage.sees("preferred 3")
        await stage.press("alt+l")
        await stage.sees("e edit")
        rows = room_rows(stage.app.screen)
        assert len(rows) == len(set(rows)) and ("e", "edit") in rows

    play(scenario, tmp_path)


def test_the_welcome_is_wrapped_as_in_the_frame_before(tmp_path: Path) -> None:
    widths = []

    async def scenario(stage: Stage) -> None:
        widths.append(stage.app.chat.conversation.outer_size.width)

    play(scenario, tmp_path / "later")
    play(scenario, tmp_path / "first", first=True)
    assert widths == [80, 80]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["", "f2", "ctrl+p"])
def test_a_terminal_of_a_few_columns_does_not_end_the_app(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.until(lambda: "f1 help" in stage.footer())
        if key:
            await stage.press(key)
        for columns in range(10, 0, -1):
            await stage.pilot.resize_terminal(columns, 24)
        await stage.pilot.resize_terminal(80, 24)
        await stage.until(lambda: stage.app.screen.size.width == 80)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_low_terminal_shows_what_is_typed_while_answers_wait(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.write("typed now")
        for rows in (16, 12, 10, 8):
            await stage.pilot.resize_terminal(40, rows)
            await stage.sees("typed now")
            await stage.sees("1 one answer")

    play(scenario, tmp_path)
