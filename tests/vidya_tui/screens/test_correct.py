"""The dialog to retype an answer in a low terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stage import Stage, play
from vidya_tui.screens.correct import CorrectScreen


@pytest.mark.parametrize("height", [8, 10, 13, 17])
def test_there_is_room_to_type_in_a_low_terminal(height: int, tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.finish()
        await stage.sees("1 one answer")
        await stage.press("1")
        await stage.until(lambda: stage.session.answer == "one answer")
        await stage.press("f2")
        await stage.until(lambda: isinstance(stage.app.screen, CorrectScreen))
        await stage.press(*"Bruno")
        await stage.sees("Bruno")
        await stage.sees("What should the")
        await stage.sees("^s save")

    play(scenario, tmp_path, size=(30, height))
