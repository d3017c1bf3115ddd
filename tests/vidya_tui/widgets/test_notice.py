"""The line above the prompt: a long one is whole, and stays until it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.timer import Timer

from tests.stage import Stage, play
from vidya_tui.widgets.notice import READ_IN_A_SECOND, SECONDS, Notice

LONG = "a file cannot be written; " * 14 + "make room first"


def test_a_long_notice_is_seen_whole_and_for_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays = list[float]()
    real = Notice.set_timer

    def recorded(notice: Notice, seconds: float, *rest: Any, **more: Any) -> Timer:
        stays.append(seconds)
        return real(notice, seconds, *rest, **more)

    monkeypatch.setattr(Notice, "set_timer", recorded)

    async def scenario(stage: Stage) -> None:
        notice = stage.app.chat.notice
        await stage.say("hello")
        await stage.sees("five answers")
        stays.clear()
        notice.say("short")
        await stage.sees("short")
        notice.say(LONG, trouble=True)
        await stage.sees("make room first")
        notice.say("until the next one", stay=True)
        assert stays == [SECONDS, len(LONG) / READ_IN_A_SECOND]
        assert len(LONG) / READ_IN_A_SECOND > SECONDS

    play(scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(40, 12), (40, 17), (40, 18), (40, 22), (80, 24)])
def test_a_long_notice_leaves_the_prompt_its_place(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("12345 pick")
        stage.app.chat.notice.say(LONG, trouble=True)
        stage.app.chat.prompt.text = "one\ntwo"
        await stage.sees("a file cannot be written")
        await stage.pilot.pause()
        assert stage.app.chat.prompt.region.bottom < size[1], "the keys are below it"

    play(scenario, tmp_path, size=size)
