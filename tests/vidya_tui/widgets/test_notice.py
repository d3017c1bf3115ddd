"""The line above the prompt: a long one is whole, and stays until it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stage import Stage, play
from vidya_tui.widgets import notice as module

LONG = "a file cannot be written; " * 14 + "make room first"


@pytest.mark.slow
def test_a_long_notice_is_seen_whole_and_for_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.1)
    monkeypatch.setattr(module, "READ_IN_A_SECOND", len(LONG))

    async def scenario(stage: Stage) -> None:
        notice = stage.app.chat.notice
        notice.say("short")
        await stage.until(lambda: not notice.display)
        notice.say(LONG, trouble=True)
        await stage.sees("make room first")
        await stage.pilot.pause(0.3)
        assert notice.display, "it is not read yet"
        await stage.until(lambda: not notice.display)

    play(scenario, tmp_path)
