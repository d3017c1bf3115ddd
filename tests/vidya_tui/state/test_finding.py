"""Finding words in the conversation that is open: ctrl+f and /find."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stage import Stage, play
from vidya_tui.state.finding import Place, places


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("river", [Place(0, 4, 9), Place(2, 0, 5)]),
        ("the  RIVER", [Place(0, 0, 9)]),
        ("a.b", [Place(3, 0, 3)]),
        ("big\tbridge", [Place(1, 2, 12)]),
        (" ", []),
        ("sea", []),
    ],
)
def test_places(words: str, found: list[Place]) -> None:
    assert places(["The river", "A big\nbridge", "RIVERS", "a.b axb"], words) == found


async def talk(stage: Stage, count: int) -> None:
    for number in range(count):
        await stage.say(f"message {number} about rivers")
        await stage.sees("5 five")
        await stage.press("1", "enter")
        await stage.until(lambda: not stage.session.waiting)


@pytest.mark.slow
def test_ctrl_f_finds_goes_on_and_comes_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, 12)
        assert "message 2 about" not in stage.text()
        await stage.press("ctrl+f")
        await stage.sees("find in this conversation")
        await stage.write("RIVERS")
        await stage.sees("12 of 12")
        await stage.press("enter", "up")
        await stage.sees("10 of 12")
        await stage.press("down")
        await stage.sees("11 of 12")
        await stage.write(" x")
        await stage.sees("not said here")
        await stage.press("ctrl+u")
        await stage.write("message 2 ")
        await stage.sees("1 of 1")
        await stage.sees("You    message 2 about")
        await stage.press("escape")
        await stage.until(lambda: not stage.app.chat.find_bar.display)
        assert stage.app.focused is stage.app.chat.prompt
        assert "message 2 about" in stage.text()  # it stays where it is
        await stage.write("x")
        assert stage.prompt == "x"
        await stage.press("ctrl+end")
        await stage.sees("message 11 about")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_comes_meanwhile_does_not_move_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, 12)
        await stage.say("/find message 2 ")
        await stage.sees("You    message 2 about")
        stage.session.say("one more about rivers")
        stage.app.chat.draw()
        await stage.still()
        assert "You    message 2 about" in stage.text() and "1 of 1" in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_place_deep_in_a_long_message_is_shown(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(200))

    async def scenario(stage: Stage) -> None:
        stage.app.chat._enter(text)
        await stage.sees("5 five")
        assert "line 150" not in stage.text()
        await stage.press("ctrl+f")
        await stage.write("line 150")
        await stage.sees("        line 150")
        await stage.sees("1 of 1")
        await stage.press("escape")
        await stage.sees("5 five")

    play(scenario, tmp_path)


def test_where_nothing_was_said_it_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/find x")
        await stage.sees("nothing was said yet")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_another_conversation_ends_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, 1)
        await stage.press("ctrl+f")
        await stage.write("rivers")
        await stage.sees("1 of 1")
        await stage.press("ctrl+n")
        await stage.until(lambda: not stage.app.chat.find_bar.display)
        await stage.write("hi")
        assert stage.prompt == "hi"

    play(scenario, tmp_path)


def test_escape_closes_it_before_the_welcome(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, 1)
        await stage.sees("esc skips")
        await stage.press("ctrl+f")
        await stage.write("rivers")
        await stage.sees("1 of 1")
        await stage.press("escape")
        await stage.until(lambda: not stage.app.chat.find_bar.display)
        assert "esc skips" in stage.text()

    play(scenario, tmp_path, first=True)
