"""Choosing a message in the log: to copy it, to say it in other words, to turn to its other variants."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from textual import events

from tests.stage import Stage, play
from vidya_tui.widgets.conversation import ConversationView
from vidya_tui.widgets.message import LONG_LINES, EntryView, shortened


async def talk(stage: Stage, *messages: str) -> None:
    for message in messages:
        await stage.say(message)
        await stage.sees("5 five answers")
        await stage.press("2")
        await stage.until(lambda: not stage.session.waiting)


@pytest.mark.slow
def test_an_earlier_message_is_edited_and_both_branches_are_there(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello", "more")
        await stage.write("half a th")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 2)
        await stage.press("up", "up")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("enter")
        await stage.until(lambda: stage.prompt == "hello")
        await stage.sees("in other words")
        await stage.write("!")
        await stage.press("enter")
        await stage.sees("You    hello!")
        await stage.sees("\u2039 2 of 2 \u203a")
        assert "You    more" not in stage.text()
        assert stage.prompt == "half a th"  # what was typed before is back
        await stage.sees("5 five answers")
        await stage.press("ctrl+u", "3")
        await stage.sees("preferred 3")
        await stage.press("shift+tab")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 1)
        await stage.press("up")
        await stage.until(lambda: "\u2190 variant before" in stage.footer())
        await stage.press("left")
        await stage.sees("You    more")
        await stage.sees("\u2039 1 of 2 \u203a")
        assert stage.app.chat.conversation.chosen == 0
        await stage.press("left")
        await stage.sees("this message has 2 variants")
        await stage.press("escape")
        await stage.until(lambda: stage.app.focused is stage.app.chat.prompt)
        await stage.say("/branch next")
        await stage.sees("You    hello!")

    play(scenario, tmp_path, size=(110, 30))


@pytest.mark.slow
def test_an_edit_that_is_left_changes_nothing_and_loses_nothing(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.write("draft")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "hello")
        await stage.write(" 5 you")
        await stage.press("escape")
        await stage.until(lambda: stage.prompt == "draft")
        await stage.press("up")
        assert stage.prompt == "hello 5 you"
        assert len(stage.journal.branches(1)) == 1

    play(scenario, tmp_path)


@pytest.mark.slow
def test_in_an_edit_digits_are_typed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "hello")
        await stage.press("ctrl+u", "2")
        assert stage.prompt == "2" and stage.session.waiting
        await stage.press("enter")
        await stage.sees("You    2\n")

    play(scenario, tmp_path)


def test_an_edit_in_one_line(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/edit hello")
        await stage.sees("nothing was said yet")
        await stage.press("ctrl+u")
        await talk(stage, "hello")
        await stage.say("/edit goodbye")
        await stage.sees("You    goodbye")
        await stage.sees("the earlier one is kept")
        await stage.say("/branch")
        await stage.sees("You    hello")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_an_edit_that_cannot_be_kept_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.errors import VidyaError

    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "hello")

        def full(*_: object) -> None:
            raise VidyaError("the disk is full", "make room")

        monkeypatch.setattr(stage.journal, "add_ask", full)
        await stage.write(" there")
        await stage.press("enter")
        await stage.sees("the disk is full; make room")
        assert stage.prompt == "hello there" and stage.app.chat.prompt.editing
        monkeypatch.undo()
        await stage.press("enter")
        await stage.sees("You    hello there")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_another_conversation_ends_an_edit(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.press("f3")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f3")
        await stage.until(lambda: stage.prompt == "hello")
        await stage.press("ctrl+n")
        await stage.until(lambda: not stage.app.chat.prompt.editing)
        await stage.press("up")
        await stage.say("")
        await stage.until(lambda: stage.session.turns != ())
        assert [len(stage.journal.branches(talk)) for talk in (1, 2)] == [1, 1]

    play(scenario, tmp_path)


@pytest.mark.slow
def test_copying_by_key_and_by_mouse(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("f9")
        assert stage.app.clipboard == ""
        await talk(stage, "hello", "more")
        await stage.press("f9")
        await stage.sees("clipboard: \u201ctwo \u241b[31mred\u201d, 12 characters")
        assert stage.app.clipboard == "two \u241b[31mred"  # harmless in a shell, too
        await stage.press("shift+tab")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 3)
        await stage.press("up", "up", "up")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 0)
        await stage.press("f9")
        await stage.until(lambda: stage.app.clipboard == "hello")
        await stage.press("escape")
        entry = list(stage.app.chat.query(EntryView))[2]
        await stage.pilot.click(entry, offset=(10, 1))
        await stage.until(lambda: stage.app.chat.conversation.chosen == 2)
        await stage.press("f9")
        await stage.until(lambda: stage.app.clipboard == "more")
        await stage.press("escape")
        await stage.say("/copy all")
        await stage.until(lambda: stage.app.clipboard.startswith("You: hello\n\nVidya: two"))
        x, y = entry.body_region.offset
        await stage.pilot.mouse_down(offset=(x, y))
        await stage.pilot.hover(offset=(x + 2, y))
        await stage.pilot.mouse_up(offset=(x + 2, y))
        await stage.press("ctrl+c")
        await stage.until(lambda: stage.app.clipboard == "mor")
        assert stage.app.focused is stage.app.chat.prompt

    texts = ("one answer", "two \x1b[31mred", "three", "four", "five answers")
    play(scenario, tmp_path, texts=texts)


@pytest.mark.slow
def test_a_copy_goes_through_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OSC 52 works over SSH, and copied text cannot end the escape sequence."""

    async def scenario(stage: Stage) -> None:
        written: list[str] = []
        driver = stage.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", written.append)
        await talk(stage, "hello")
        await stage.press("f9")
        coded = base64.b64encode(b"two answers").decode()
        await stage.until(lambda: f"\x1b]52;c;{coded}\a" in written)

    play(scenario, tmp_path)


def test_a_highlighted_candidate_is_copied(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f9")
        await stage.sees("there is no answer to copy yet")
        await stage.press("tab")
        await stage.sees("\u25b81 one")
        await stage.press("down")
        await stage.sees("\u25b82 two")
        await stage.press("f9")
        await stage.until(lambda: stage.app.clipboard == "two answers")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_is_typed_or_pasted_while_choosing_goes_to_the_prompt(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.press("shift+tab")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 1)
        await stage.press("n", "3", "slash")
        await stage.until(lambda: stage.prompt == "n3/")
        assert stage.app.chat.conversation.chosen is None
        await stage.press("shift+tab")
        await stage.until(lambda: stage.app.chat.conversation.chosen == 1)
        stage.app.post_message(events.Paste("x\x1b[2Jy"))
        await stage.until(lambda: stage.prompt == "n3/x\u241b[2Jy")

    play(scenario, tmp_path)


def test_a_long_text_shows_its_beginning_until_it_is_chosen(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(500))
    assert shortened("a\n" * (LONG_LINES - 1)) == ""
    assert shortened(text).startswith("line 0\nline 1\n")
    assert "500 lines" in shortened(text) and len(shortened("x" * 100_000)) < 3000

    async def scenario(stage: Stage) -> None:
        stage.app.post_message(events.Paste(text))
        await stage.until(lambda: stage.prompt == text)
        await stage.sees("500 lines, 4,389 characters")
        await stage.press("enter")
        await stage.sees("5 five answers")
        await stage.press("1")
        await stage.sees("(500 lines, 4,389 characters in all; shift+tab and the arrows open it)")
        assert stage.session.turns[0].text == text
        await stage.press("f3")
        await stage.sees("line 0\n")
        assert "in all" not in stage.text()
        view = next(iter(stage.app.chat.query(EntryView)))
        await stage.until(lambda: view.region.height > 500)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_was_said_in_earlier_sessions_comes_back_with_up(tmp_path: Path) -> None:
    async def first(stage: Stage) -> None:
        await talk(stage, "one", "two\nlines")
        await stage.press("ctrl+q")  # only who leaves has saved that the prompt is empty
        await stage.until(lambda: not stage.app.is_running)

    async def second(stage: Stage) -> None:
        await talk(stage, "three")
        await stage.press("up")
        assert stage.prompt == "three"
        await stage.press("up")
        assert stage.prompt == "two\nlines"
        await stage.press("up", "up")
        assert stage.prompt == "one"
        await stage.press("down", "down", "down", "down")
        assert stage.prompt == ""

    play(first, tmp_path)
    play(second, tmp_path)


@pytest.mark.slow
def test_a_message_far_above_is_reached_and_leaving_follows_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        for number in range(60):
            stage.exchange(f"message {number}")
        stage.app.chat.draw()
        view = stage.app.chat.conversation
        await stage.sees("message 59")
        view.choose(4)
        await stage.sees("You    message 2 ")
        assert view.mounted_entries <= 75 and not view.following
        await stage.press("escape")
        await stage.sees("message 59")
        assert view.following and view.mounted_entries <= 75

    play(scenario, tmp_path)


def fill(stage: Stage, count: int = 20) -> ConversationView:
    for number in range(count):
        stage.exchange(f"message {number}")
    stage.app.chat.draw()
    return stage.app.chat.conversation


def log(stage: Stage) -> list[str]:
    """The visible lines of the log, without the scrollbar."""
    view = stage.app.chat.conversation
    lines = stage.text().split("\n")[view.region.y : view.region.bottom]
    return [line[: view.vertical_scrollbar.region.x].rstrip() for line in lines]
