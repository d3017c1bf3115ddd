"""What cannot be taken back is asked for: y is yes, and nothing else is, Enter least of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.protocol.events import Forgotten
from learning.protocol.requests import Forget, Undo
from tests.stage import Stage, play
from tests.vidya_tui.screens.test_history import talk, write

BOOK = "<|user|> My dog? <|assistant|> Rufus.\n"


async def asked(stage: Stage, key: str) -> None:
    await stage.until(lambda: stage.app.focused is stage.app.screen.rows)  # type: ignore[attr-defined]
    await stage.press(key)
    await stage.sees("y yes")


async def no(stage: Stage, key: str) -> None:
    await stage.press(key)
    await stage.sees("nothing was changed")
    assert "y yes" not in stage.text()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["enter", "n", "space", "ctrl+s", "escape"])
def test_a_conversation_is_not_erased_by_another_key(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        write(stage, "keep me")
        await stage.press("ctrl+o")
        await stage.sees("keep me")
        await stage.press("tab")
        await asked(stage, "d")
        await no(stage, key)
        assert stage.teacher.sent(Forget) == []
        await stage.sees("keep me")
        await asked(stage, "d")
        await stage.press("Y")  # with the caps lock on
        await stage.until(lambda: len(stage.teacher.sent(Forget)) == 1)

    play(scenario, tmp_path)


def test_journal_and_book_are_not_erased_apart_from_the_weights_by_enter(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        number = write(stage, "secret")
        await stage.press("ctrl+o")
        await stage.sees("secret")
        stage.hear(Forgotten(number, trouble="10m: no weights without lesson 2 are left"))
        await stage.sees("leave the weights?")
        await no(stage, "enter")
        assert stage.teacher.sent(Forget) == []

    play(scenario, tmp_path)


def test_a_lesson_is_not_taken_back_by_enter(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.say("/lessons")
        await stage.sees("lessons \u00b7 ")
        await asked(stage, "w")
        await no(stage, "enter")
        await stage.pilot.pause(0.1)
        assert stage.teacher.sent(Undo) == [] and stage.journal.to_undo() == []
        assert "What should the answer have been?" not in stage.text()

    play(scenario, tmp_path)


def test_an_entry_is_not_taken_out_by_enter(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.home.book_path.write_text(BOOK)
        await stage.say("/book rufus")
        await stage.sees("My dog?")
        await asked(stage, "d")
        await no(stage, "enter")
        assert stage.home.book_path.read_text() == BOOK

    play(scenario, tmp_path)
