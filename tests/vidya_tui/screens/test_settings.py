"""Settings, by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.protocol.requests import Generate, Practise, SetLearning
from tests.stage import Stage, play
from vidya_tui.settings.file import Settings, SettingsError, load
from vidya_tui.settings.rows import groups


def test_a_setting_changes_by_arrows_and_is_saved_at_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+s")
        await stage.sees("answers to choose among   5")
        await stage.press("left", "left")
        await stage.sees("answers to choose among   3")
        await stage.sees("The default is 5.")
        assert load(stage.home.settings_path).candidates == 3
        await stage.press("d")
        await stage.sees("answers to choose among   5")
        await stage.press(*["down"] * 6, "right")
        await stage.until(lambda: SetLearning(False) in stage.teacher.requests)
        await stage.press("escape")
        await stage.sees("Say something, or / for commands")

    play(scenario, tmp_path)


def test_a_value_is_typed_and_a_wrong_one_says_what_to_write(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/settings")
        await stage.sees("answers to choose among")
        await stage.press("down", "enter")
        await stage.press("end", *["backspace"] * 5)
        await stage.write("hot")
        await stage.press("enter")
        await stage.sees('temperature: is "hot"; write a number, 0 to 10')
        await stage.press(*["backspace"] * 3)
        await stage.write("0,4")
        await stage.press("enter")
        await stage.until(lambda: load(stage.home.settings_path).temperature == 0.4)
        await stage.press("escape")
        await stage.say("hello")
        (asked,) = stage.teacher.sent(Generate)
        assert isinstance(asked, Generate) and asked.sampling.temperature == 0.4

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_theme_is_seen_at_once_and_motion_can_be_off(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        assert stage.app.control is not None
        stage.app.control.set("theme", "light")
        assert stage.app.current_theme.name == "vidya-light"
        stage.app.control.set("motion", False)
        assert stage.app.animation_level == "none"
        stage.app.control.set("motion", True)
        assert stage.app.animation_level != "none"

    play(scenario, tmp_path)


def test_a_file_that_cannot_be_written_is_said_and_nothing_changes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.home.settings_path.write_text("candidates: 3\n")
        await stage.press("alt+s")
        await stage.sees("answers to choose among")
        await stage.press("right")
        await stage.sees("not TOML")
        await stage.sees("answers to choose among   5")

    play(scenario, tmp_path)


def test_every_row_is_a_setting_steps_within_bounds_and_has_words() -> None:
    rows = [row for group in groups(["nord"]) for row in group.rows]
    assert {row.key for row in rows} == set(Settings.__dataclass_fields__) - {"keys"}
    for row in rows:
        assert row.shown(Settings()).strip() and len(row.help) > 20
        for direction in (-1, 1):
            settings = Settings()
            for _ in range(200):
                value = row.next(settings, direction)
                if value is None:
                    break
                settings = Settings(**{row.key: value})
    temperature = next(row for row in rows if row.key == "temperature")
    assert temperature.next(Settings(temperature=0.3), 1) == 0.4
    assert temperature.next(Settings(temperature=10), 1) is None
    assert (
        temperature.shown(Settings()) == "the model's own" and temperature.typed(Settings()) == ""
    )
    assert temperature.next(Settings(), -1) == 0.7, "from the program's default"
    assert temperature.read(" ", Settings(temperature=0.3)) is None
    assert temperature.read("0,3", Settings()) == 0.3
    with pytest.raises(SettingsError):
        temperature.read("11", Settings())
    assert next(r for r in rows if r.key == "candidates").read(" 7 ", Settings()) == 7


@pytest.mark.parametrize("command", ["/settings", "/model"])
@pytest.mark.parametrize("size", [(1, 1), (12, 4), (40, 2)])
def test_a_list_without_room_for_a_row_takes_every_key(
    tmp_path: Path, command: str, size: tuple[int, int]
) -> None:
    async def scenario(stage: Stage) -> None:
        stage.app.chat.prompt.text = command
        await stage.pilot.resize_terminal(*size)
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen is not stage.app.chat)
        await stage.press("down", "pagedown", "pageup", "end", "home", "up")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat)
        assert stage.app.is_running and stage.app._exception is None

    play(scenario, tmp_path)


def test_idle_practice_is_set_at_once(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        control = stage.app.control
        assert control is not None
        idle = control.controller.practice._idle
        assert idle.minutes == 0
        control.set("idle_practice", 1)
        control.set("practice_task", "syllogism")
        idle.last_key -= 61.0
        control.controller.away()
        (asked,) = stage.teacher.sent(Practise)
        assert isinstance(asked, Practise) and asked.idle
        assert asked.arms == ("syllogism", "chain_sum", "propositional_logic")

    play(scenario, tmp_path)
