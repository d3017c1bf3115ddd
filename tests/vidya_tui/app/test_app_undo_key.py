"""F8: one lesson at a time, by name, and of another conversation only after a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from learning.protocol.requests import Undo
from tests.stage import Stage, play
from vidya_tui.widgets import confirm_line
from vidya_tui.widgets.prompt import HOLD


async def teach(stage: Stage, question: str, pick: str) -> None:
    await stage.say(question)
    await stage.sees("5 five answers")
    await stage.press(pick, "enter")
    await stage.sees(f"preferred {pick}")


def test_twice_takes_back_one_lesson_and_says_which(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "about rivers", "2")
        await teach(stage, "about hills", "3")
        await stage.press("f8", "f8")
        await stage.sees("\u201cabout hills\u201d \u2192 \u201cthree answers\u201d")
        assert len(stage.teacher.sent(Undo)) == 1
        assert stage.journal.last_lesson() is not None

    play(scenario, tmp_path)


async def question(stage: Stage) -> None:
    """The last lesson is of another conversation, and F8 asks whether to take it back."""
    await teach(stage, "about rivers", "2")
    await stage.press("ctrl+n")
    await stage.until(lambda: "about rivers" not in stage.text())
    await stage.press("f8")
    await stage.sees("The last lesson is of another conversation: \u201cabout rivers\u201d")
    await stage.sees("Take it back?")
    assert stage.teacher.sent(Undo) == []


@pytest.mark.parametrize("yes", [True, False])
def test_another_conversation_is_asked_about(tmp_path: Path, yes: bool) -> None:
    async def scenario(stage: Stage) -> None:
        await question(stage)
        await stage.press("y" if yes else "h")
        if yes:
            await stage.until(lambda: len(stage.teacher.sent(Undo)) == 1)
            assert stage.prompt == ""
        else:
            await stage.until(lambda: stage.prompt == "h")
            await stage.press("i")
            assert stage.prompt == "hi" and stage.teacher.sent(Undo) == []

    play(scenario, tmp_path)


@pytest.mark.parametrize("typed", ["yes it rained", "What is it?"])
def test_a_message_typed_beside_the_question_is_no_answer(tmp_path: Path, typed: str) -> None:
    async def scenario(stage: Stage) -> None:
        await question(stage)
        await stage.press(*(character if character != " " else "space" for character in typed))
        await stage.until(lambda: stage.prompt == typed)
        await stage.pilot.pause(2 * HOLD)
        assert stage.teacher.sent(Undo) == [] and stage.prompt == typed

    play(scenario, tmp_path)


@pytest.mark.parametrize("key", ["escape", "left", "backspace"])
def test_a_key_that_is_no_text_takes_the_y_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(confirm_line, "HOLD", 2.0)

    async def scenario(stage: Stage) -> None:
        await question(stage)
        await stage.press("y")
        await stage.press(key)
        await stage.sees("nothing was changed")
        await stage.pilot.pause(2.2)
        assert stage.prompt == "" and stage.teacher.sent(Undo) == []

    play(scenario, tmp_path)


def test_a_click_elsewhere_is_no_yes_nor_for_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirm_line, "HOLD", 1.0)

    async def scenario(stage: Stage) -> None:
        await question(stage)
        await stage.press("y")
        stage.app.screen.set_focus(stage.app.screen.query_one("#prompt"))
        await stage.sees("nothing was changed")
        await stage.press("f8")
        await stage.sees("Take it back?")
        await stage.pilot.pause(1.2)
        assert stage.teacher.sent(Undo) == [], "the y was for the question before"
        await stage.press("y", "enter")
        await stage.until(lambda: len(stage.teacher.sent(Undo)) == 1)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_in_words_without_a_question(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "about rivers", "2")
        await stage.press("ctrl+n")
        await stage.say("/undo yes")
        await stage.until(lambda: len(stage.teacher.sent(Undo)) == 1)
        await stage.sees("\u201cabout rivers\u201d \u2192 \u201ctwo answers\u201d")

    play(scenario, tmp_path)
