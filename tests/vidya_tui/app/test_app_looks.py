"""The app in every size and theme, and with a long conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.geometry import Size

from learning.protocol.events import LearnerState
from tests.stage import Stage, play
from vidya_tui.settings.file import Settings
from vidya_tui.widgets.candidates import CandidatePanel, CardView
from vidya_tui.widgets.conversation import ConversationView

# ---------------------------------------------------------------- sizes


LONG = tuple(" ".join([word] * 60) for word in ("alpha", "bravo", "charlie", "delta", "echo"))


@pytest.mark.parametrize(
    "size",
    [
        (80, 24),
        *(
            pytest.param(size, marks=pytest.mark.slow)
            for size in ((60, 20), (120, 24), (140, 40), (200, 60))
        ),
    ],
)
@pytest.mark.slow
def test_all_cards_the_prompt_and_the_keys_are_seen_at_once(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.until(lambda: not stage.app.chat.situation.streaming)
        await stage.pilot.pause(0.2)
        panel = stage.app.chat.query_one(CandidatePanel)
        for card in stage.app.chat.query(CardView):
            assert panel.region.contains_region(card.region), card.number
            assert card.region.height >= 1
        shown = stage.text()
        for number, word in enumerate(("alpha", "bravo", "charlie", "delta", "echo"), 1):
            if size[0] >= 120:
                assert f" {number} \u2500" in shown and word in shown
            else:
                assert f"\n {number} {word}" in shown
        assert size == (200, 60) or "\u2026" in shown  # long texts are cut, and say so
        assert "You    hello" in shown
        assert "Say something, or / for commands" in shown
        await stage.until(lambda: "pick" in stage.footer())

    play(scenario, tmp_path, size=size, texts=LONG)


@pytest.mark.slow
def test_a_highlighted_card_is_shown_whole(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 echo")
        await stage.press("tab")
        await stage.sees("\u25b81 alpha")
        await stage.until(lambda: stage.text().count("alpha") == 60)

    play(scenario, tmp_path, texts=LONG)


@pytest.mark.slow
def test_resizing_at_any_time(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        for size in ((200, 60), (60, 20), (20, 6), (121, 24), (1, 1), (80, 24)):
            stage.teacher.pump(1)
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
        stage.teacher.finish()
        await stage.sees("5 five answers")
        await stage.press("5")
        await stage.sees("preferred 5")

    play(scenario, tmp_path, manual=True)


def test_two_sizes_at_once_do_not_resize_for_ever(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.pilot.resize_terminal(100, 30)
        chat = stage.app.chat
        layouts: list[object] = []
        refresh = chat._refresh_layout

        def counted(size: Size | None = None, scroll: bool = False) -> None:
            layouts.append(size)
            if len(layouts) < 20:  # else it would go on until the end of days
                refresh(size, scroll)

        chat._refresh_layout = counted  # type: ignore[method-assign]
        for size in (Size(90, 20), Size(100, 30)):
            chat.post_message(events.Resize(size, size, size))
            chat.call_later(lambda: None)  # neighbours in the queue would become one
        await stage.pilot.pause(0.3)
        assert len(layouts) < 10
        assert chat.size == Size(100, 30)

    play(scenario, tmp_path)


@pytest.mark.parametrize(
    "theme",
    [
        "",
        "terminal",
        *(
            pytest.param(theme, marks=pytest.mark.slow)
            for theme in ("dark", "light", "terminal-light", "nord")
        ),
    ],
)
def test_themes(tmp_path: Path, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)

    async def scenario(stage: Stage) -> None:
        assert stage.app.current_theme.dark is ("light" not in theme)
        await stage.say("hello")
        await stage.sees("5 five answers")

    play(scenario, tmp_path, settings=Settings(theme=theme))


def test_no_color(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def scenario(stage: Stage) -> None:
        assert stage.app.no_color
        await stage.say("hello")
        await stage.sees("3 three answers")  # a digit before its card has text is typed
        await stage.press("3")
        await stage.sees("preferred 3")

    play(scenario, tmp_path)


# ---------------------------------------------------------------- long conversations


@pytest.mark.slow
def test_a_long_conversation_keeps_few_widgets_and_can_be_read_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = stage.app.chat.query_one(ConversationView)
        for number in range(60):
            stage.exchange(f"message {number}")
        stage.app.chat.draw()
        await stage.sees("message 59")
        assert view.mounted_entries <= 50
        for _ in range(40):
            await stage.turn("pageup", 1)
            assert view.mounted_entries <= 75
        await stage.sees("message 0\n")
        assert not view.following
        await stage.sees("ctrl+end jumps to the end")
        await stage.say("spoken while reading back")
        await stage.sees("spoken while reading back")
        await stage.press("pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.press("ctrl+end")
        await stage.sees("spoken while reading back")
        assert view.following

    play(scenario, tmp_path)


@pytest.mark.slow
def test_reading_back_is_not_disturbed_by_what_comes(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        view = stage.app.chat.query_one(ConversationView)
        for number in range(20):
            stage.exchange(f"message {number}")
        stage.session.say("the last")
        stage.teacher.finish()
        stage.app.chat.draw()
        await stage.sees("the last")
        await stage.press("pageup", "pageup")
        await stage.until(lambda: not view.following)
        await stage.pilot.pause(0.2)
        before = view.scroll_y
        stage.hear(LearnerState("learning", 1, 0.41, 0.98))
        await stage.sees("loss 0.41")
        await stage.pilot.pause(0.2)
        assert view.scroll_y == before and not view.following

    play(scenario, tmp_path)


@pytest.mark.slow
def test_no_colour_is_left_where_none_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        app = stage.app
        for strip in stage.strips():
            for segment in strip.apply_filter(app._filters[-1], app.screen.background_colors[1]):
                style = segment.style
                for colour in (style and style.color, style and style.bgcolor):
                    assert not colour or colour.is_default

    play(scenario, tmp_path)
