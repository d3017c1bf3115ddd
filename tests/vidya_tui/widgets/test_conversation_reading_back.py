"""Reading back in the log: in tall terminals, with the scrollbar, inside long texts, and while a message
is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual import events

from tests.stage import Stage, play
from tests.vidya_tui.widgets.test_conversation import fill, log
from vidya_tui.widgets.conversation import ConversationView


def top(stage: Stage) -> int:
    """The line of the whole log that stands in the first row; an exchange of `fill` has three."""
    for row, line in enumerate(log(stage)):
        if found := re.search(r"(You    message|Vidya  one answer|message) (\d+)$", line):
            return 3 * int(found[2]) + 1 - row
    raise AssertionError(log(stage))


def seen(view: ConversationView, at: int) -> bool:
    """Whether the message at a position is mounted and in view."""
    place = at - view._window.start
    mounted = 0 <= place < len(view._window.views)
    return mounted and view.region.contains_region(view._window.views[place].region)


@pytest.mark.slow
def test_a_message_chosen_far_above_is_in_view(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 60)
        await stage.still()
        view.choose(80)
        await stage.until(lambda: seen(view, 80))
        await stage.still()
        assert seen(view, 80)

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_wheel_in_a_tall_terminal_leaves_no_hole(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 100)
        await stage.still()
        for _ in range(40):
            before = top(stage)
            await stage.pilot._post_mouse_events([events.MouseScrollUp], view, (3, 3))
            await stage.still(1)
            assert view.scroll_y <= view.max_scroll_y
            assert before - top(stage) <= 3

    play(scenario, tmp_path, manual=True, size=(200, 60))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(200, 100), (120, 140)])
def test_a_page_in_a_tall_terminal_is_a_screenful(tmp_path: Path, size: tuple[int, int]) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 120)
        await stage.still()
        for _ in range(2):
            before = top(stage)
            await stage.press("pageup")
            await stage.still()
            assert not view.following
            assert 0 < before - top(stage) <= view.size.height

    play(scenario, tmp_path, manual=True, size=size)


@pytest.mark.slow
def test_a_page_while_a_message_is_chosen_is_a_screenful(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 120)
        await stage.still()
        view.choose(150)
        await stage.still()
        before = top(stage)
        await stage.press("pageup")
        await stage.still()
        assert 0 < before - top(stage) <= view.size.height

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_scrollbar_goes_as_far_as_it_is_drawn(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 120)
        await stage.still()
        bar = view.vertical_scrollbar.region
        x, y = bar.x, bar.bottom - 1
        await stage.pilot.mouse_down(offset=(x, y))
        for up in range(1, 10):
            before = top(stage)
            await stage.pilot.hover(offset=(x, y - up))
            await stage.still()
            assert before - top(stage) < 12
        start = view._window.start
        await stage.pilot.mouse_up(offset=(x, y - 9))
        await stage.press("pageup")
        await stage.until(lambda: view._window.start < start)  # it is let go, so the window moves

    play(scenario, tmp_path, manual=True)


def test_another_width_inside_a_long_text_stays_in_it(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.exchange(" ".join(f"w{n}" for n in range(700)))
        view = fill(stage, 20)
        await stage.still()
        view.scroll_to(y=45, animate=False)
        await stage.still()
        assert "w4" in log(stage)[0]
        await stage.pilot.resize_terminal(118, 24)
        await stage.still()
        assert re.search(r"w[345]\d\d", log(stage)[0])

    play(scenario, tmp_path, manual=True, size=(60, 24))


@pytest.mark.slow
def test_a_long_text_that_closes_stays_in_view(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.exchange("\n".join(f"line {n}" for n in range(100)))
        view = fill(stage, 20)
        await stage.still()
        await stage.press("pageup")
        await stage.still()
        view.choose(0)
        await stage.still()
        view.scroll_to(y=60, animate=False)
        await stage.still()
        await stage.press("escape")
        await stage.sees("in all")

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_last_message_is_in_view_when_it_is_chosen(tmp_path: Path) -> None:
    """The line that says "reading back" takes the row in which it stood."""

    async def scenario(stage: Stage) -> None:
        view = fill(stage, 20)
        await stage.still()
        for _ in range(3):
            await stage.press("shift+tab")
            await stage.until(lambda: seen(view, 39))
            await stage.still()
            assert seen(view, 39)
            await stage.press("escape")
            await stage.until(lambda: view.following)

    play(scenario, tmp_path, manual=True)


def test_a_look_at_another_window_leaves_the_choice_and_the_keys(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 5)
        await stage.still()
        await stage.press("shift+tab")
        await stage.until(lambda: view.chosen == 9)
        stage.app.post_message(events.AppBlur())
        await stage.still()
        stage.app.post_message(events.AppFocus())
        await stage.still()
        assert view.chosen == 9
        await stage.press("h", "i")
        await stage.until(lambda: stage.prompt == "hi" and view.chosen is None)

    play(scenario, tmp_path, manual=True)


@pytest.mark.parametrize("key", ["ctrl+end", "ctrl+n"])
def test_to_the_end_and_a_new_conversation_end_the_choice(tmp_path: Path, key: str) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 40)
        await stage.still()
        view.choose(38)
        await stage.still()
        await stage.press(key)
        await stage.until(lambda: view.chosen is None and view.following)
        assert stage.app.focused is stage.app.chat.prompt

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_a_chosen_message_is_marked_wherever_it_comes_into_view_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 120)
        await stage.still()
        view.choose(144)
        await stage.until(lambda: seen(view, 144))
        chosen = view._window.views[144 - view._window.start]
        stage.app.chat.selections = dict.fromkeys(view._window.views, None)  # type: ignore[arg-type]
        view._window.place(0, 60)  # a view that is marked with the mouse is not used again
        assert chosen not in view._window.views
        stage.app.chat.selections = {}
        view._window.place(120, 180)
        marked = [n for n, one in view._window.placed() if one.has_class("-chosen")]
        assert marked == [144]

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_line_that_says_reading_back_makes_way_for_a_choice(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 20)
        await stage.still()
        await stage.press("f3")
        await stage.until(lambda: view.chosen == 38)
        await stage.still()
        assert "reading back" not in stage.text()
        await stage.press("escape")
        await stage.until(lambda: view.chosen is None and view.following)
        await stage.still()
        await stage.press("pageup")
        await stage.sees("reading back")
        await stage.press("shift+tab")
        await stage.until(lambda: "reading back" not in stage.text())
        await stage.press("escape")
        await stage.sees("reading back")

    play(scenario, tmp_path, manual=True)
