"""Reading back in a long log: what is mounted, and what is followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from tests.stage import Stage, play
from tests.vidya_tui.widgets.test_conversation import fill, log
from vidya_tui.widgets.conversation import AHEAD
from vidya_tui.widgets.log_window import STEP, WINDOW
from vidya_tui.widgets.message import EntryView


@pytest.mark.slow
def test_at_the_edge_of_what_is_mounted_the_wheel_goes_on(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(60):
            stage.exchange(f"message {number}")
        stage.app.chat.draw()
        view = stage.app.chat.conversation
        await stage.sees("message 59")
        view.following = False  # a line says so: it is laid out before the edge is reached
        await stage.still()
        view._window.moving = True  # the edge is reached while the window moves already
        view.scroll_to(y=0, animate=False)
        await stage.pilot.pause(0.1)
        view._window.moving = False
        start = view._window.start
        assert start > 0 and view.scroll_y == 0
        await stage.pilot._post_mouse_events([events.MouseScrollUp], view, button=0)
        await stage.until(lambda: view._window.start < start)

    play(scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["keys", "wheel"])
def test_reading_on_to_the_end_follows_again(tmp_path: Path, way: str) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage)
        await stage.sees("message 19")

        async def back() -> None:
            if way == "keys":
                await stage.press("pageup")
            else:
                await stage.pilot._post_mouse_events([events.MouseScrollUp], view, (3, 3))

        async def on() -> None:
            if way == "keys":
                await stage.press("pagedown")
            else:
                await stage.pilot._post_mouse_events([events.MouseScrollDown], view, (3, 3))

        for _ in range(3):
            await back()
        await stage.until(lambda: not view.following)
        await stage.sees("reading back")
        for _ in range(40):
            await on()
            await stage.still(1)
            if view.following:
                break
        assert view.following and view.scroll_y >= view.max_scroll_y
        await stage.until(lambda: "reading back" not in stage.text())
        stage.session.say("the newest")
        stage.app.chat.draw()
        await stage.sees("You    the newest")

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_at_the_end_already_reading_on_follows_again(tmp_path: Path) -> None:
    """The terminal grew while the owner read back, so that the end came into sight by itself."""

    async def scenario(stage: Stage) -> None:
        view = fill(stage, 8)
        await stage.sees("message 7")
        await stage.press("pageup")
        await stage.until(lambda: not view.following)
        await stage.pilot.resize_terminal(80, 60)
        await stage.until(lambda: view.max_scroll_y == 0)
        await stage.press("pagedown")
        await stage.until(lambda: view.following)

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_what_streams_into_the_log_moves_nothing_for_who_reads_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage)
        await stage.sees("message 19")
        stage.teacher.texts = ("word " * 400,) * 5
        await stage.say("the last")
        stage.teacher.pump(3)
        await stage.until(lambda: stage.session.cards[0].text != "")
        await stage.sees("1 word")
        await stage.press("1")
        await stage.until(lambda: not stage.session.waiting)
        await stage.press("pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.still()
        before, place = log(stage), view.scroll_y
        for _ in range(20):
            stage.teacher.pump(20, only=1)
            await stage.pilot.pause(0.02)
        await stage.until(lambda: len(stage.session.answer or "") > 1500)
        await stage.still()
        assert log(stage) == before and view.scroll_y == place and not view.following
        await stage.press("ctrl+end")
        await stage.until(lambda: view.following and log(stage) != before)

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_the_window_moves_before_its_edge_and_what_is_read_stays(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = fill(stage, 80)
        await stage.sees("message 79")
        await stage.still()
        first = view._window.start
        seen = set(stage.app.chat.query(EntryView))
        while view.scroll_y >= AHEAD + 20:  # a page is shorter than 20 lines
            await stage.turn("pageup", 1)
            await stage.still()
        move = view._window.start
        view._window.moving = True  # the window stays until the page is looked at
        await stage.press("pageup")
        await stage.still()
        before, at_edge = log(stage), view.scroll_y
        assert move == first and 0 < at_edge < AHEAD
        view._window.moving = False
        view._ahead(back=True)
        await stage.until(lambda: view._window.start < first and not view._window.moving)
        await stage.still()
        assert log(stage) == before and view.scroll_y > at_edge
        await stage.turn("pageup", 30)
        await stage.sees("message 0\n")
        shown = list(stage.app.chat.query(EntryView))
        assert len(shown) == view.mounted_entries <= WINDOW + STEP
        assert seen <= set(shown)  # they show other messages now; none was thrown away
        texts = [entry.entry.text for entry in shown]
        assert texts == [entry.text for entry in view._window.entries[: len(texts)]]
        await stage.turn("pagedown", 60)
        await stage.until(lambda: view.following)
        await stage.sees("message 79")

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_another_width_keeps_the_line_that_is_read(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(12):
            stage.exchange(f"message {number} " + "and more of it " * 20)
        stage.app.chat.draw()
        view = stage.app.chat.conversation
        await stage.until(lambda: view.max_scroll_y > 60)
        await stage.press("pageup", "pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.still()
        top = next(e.entry.text for e in view.query(EntryView) if e.region.bottom > view.region.y)
        await stage.pilot.resize_terminal(60, 30)
        await stage.still()
        now = next(e.entry.text for e in view.query(EntryView) if e.region.bottom > view.region.y)
        assert now == top and not view.following

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_a_marked_text_stays_with_its_message(tmp_path: Path) -> None:
    """A view that is marked with the mouse is not made to show another message."""

    async def scenario(stage: Stage) -> None:
        view = fill(stage, 80)
        await stage.sees("message 79")
        last = list(stage.app.chat.query(EntryView))[-2]
        x, y = last.body_region.offset
        await stage.pilot.mouse_down(offset=(x, y))
        await stage.pilot.hover(offset=(x + 6, y))
        await stage.pilot.mouse_up(offset=(x + 6, y))
        assert stage.app.chat.get_selected_text() == "message"
        await stage.turn("pageup", 40)
        await stage.sees("message 0\n")
        assert last not in stage.app.chat.query(EntryView)
        assert all(entry not in stage.app.chat.selections for entry in view.query(EntryView))

    play(scenario, tmp_path, manual=True)
