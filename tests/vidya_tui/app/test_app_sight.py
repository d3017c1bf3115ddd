"""A selection is visible without colours: by its letters, or by bold, underlined or reversed text."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment

from tests.stage import Stage, play
from tests.vidya_tui.screens.test_history import write
from vidya_tui.settings.file import Settings

Look = tuple[bool, bool, bool]


def looks(stage: Stage, line: str) -> set[Look]:
    """The (bold, underlined, reversed) of the letters of the line on which words stand."""
    for strip in stage.strips():
        if line in strip.text:
            return {_look(segment) for segment in strip if segment.text.strip()}
    raise AssertionError(f"{line!r} is not on the screen")


def _look(segment: Segment) -> Look:
    style = segment.style
    assert style is not None
    return (bool(style.bold), bool(style.underline), bool(style.reverse))


@pytest.mark.parametrize(
    "theme",
    [
        "dark",
        *(pytest.param(t, marks=pytest.mark.slow) for t in ("terminal", "terminal-light", "light")),
    ],
)
@pytest.mark.parametrize("colours", [True, False])
def test_the_row_under_the_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: str, colours: bool
) -> None:
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")

    async def scenario(stage: Stage) -> None:
        for name in ("hills", "rivers", "roads"):
            write(stage, f"about {name}")
        await stage.press("ctrl+o")
        await stage.sees("conversations \u00b7 3")
        for key in ("down", "tab"):  # the search line has the focus, then the list
            await stage.press(key)
            await stage.pilot.pause(0.1)
            rows = [looks(stage, f" 1  about {name}") for name in ("roads", "rivers", "hills")]
            assert rows[0] == rows[2] and rows[0].isdisjoint(rows[1]), (key, rows)
            assert not {look[2] for look in rows[0]} - {False}
            if theme.startswith("terminal") or not colours:
                assert all(reverse for _, _, reverse in rows[1])

    play(scenario, tmp_path, settings=Settings(theme=theme))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["terminal", "dark"])
def test_a_highlighted_box(tmp_path: Path, theme: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("five answers")
        assert "\u250f" not in stage.text()
        await stage.press("tab")
        await stage.sees("\u250f\u2501 1 \u2501")
        await stage.press("right")
        await stage.sees("\u250f\u2501 2 \u2501")
        assert stage.text().count("\u250f") == 1

    play(scenario, tmp_path, size=(150, 40), settings=Settings(theme=theme))
