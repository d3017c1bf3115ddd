"""No key loses the text typed in an editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from engine.errors import VidyaError
from tests.stage import Stage, play
from tests.vidya_tui.screens.test_history import talk
from vidya_tui.controller.drafts import Drafts
from vidya_tui.screens.correct import CorrectScreen
from vidya_tui.settings.file import Settings

EDITOR = "What should the answer have been?"


def fields(stage: Stage) -> list[str]:
    return [field.text for field in stage.app.screen.query(TextArea)]


async def closed(stage: Stage) -> None:
    await stage.until(lambda: EDITOR not in stage.text() and "You say" not in stage.text())


async def type_half_an_entry(stage: Stage) -> None:
    """Of a new entry of the book, which has one."""
    stage.home.book_path.write_text("<|user|> My dog? <|assistant|> Rufus.\n")
    await stage.say("/book rufus")
    await stage.sees("My dog?")
    await stage.press("a")
    await stage.sees("You say")
    await stage.write("Where do I live?")
    await stage.press("tab")
    await stage.write("In K")


def test_what_is_kept() -> None:
    drafts, about = Drafts(), ("ask", 7)
    assert drafts.get(about, "one") == ("one",)
    assert not drafts.left(about, ["one"], ["one"])
    assert drafts.left(about, ["one more"], ["one"])
    assert drafts.get(about, "one") == ("one more",) and drafts.get(("lesson", 7), "x") == ("x",)
    assert not drafts.left(about, [" \n"], ["one"])
    assert drafts.get(about, "one") == ("one",)
    drafts.left(about, ["again"], ["one"])
    drafts.done(about)
    assert drafts.get(about, "one") == ("one",)


@pytest.mark.parametrize(
    ("keys", "newline"),
    [
        ({}, "ctrl+j"),
        pytest.param({}, "shift+enter", marks=pytest.mark.slow),
        pytest.param({"newline": "ctrl+b"}, "ctrl+b", marks=pytest.mark.slow),
    ],
)
def test_a_new_line_is_a_new_line_in_every_editor(
    tmp_path: Path, keys: dict[str, str], newline: str
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.press("a", newline, "b")
        assert stage.prompt == "a\nb"
        await stage.press("ctrl+u", "backspace", "ctrl+u")
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees(EDITOR)
        await stage.press("end", newline, "x")
        assert fields(stage) == ["one answer\nx"]
        await stage.press("ctrl+s")
        await stage.sees("will answer")
        assert stage.journal.answer(1) == "one answer\nx"
        await stage.say("/book")
        await stage.sees("entries")
        await stage.press("a")
        await stage.sees("You say")
        await stage.press("q", newline, "r")
        assert fields(stage) == ["q\nr", ""]

    play(scenario, tmp_path, settings=Settings(theme="dark", keys=keys))


def test_an_empty_correction_says_so_and_stays(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees(EDITOR)
        await stage.press("f7", "backspace", "ctrl+s")
        await stage.sees("the correction is empty")
        assert isinstance(stage.app.screen, CorrectScreen)
        await stage.write("Yes.")
        await stage.until(lambda: "is empty" not in stage.text())
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cYes.\u201d")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_lesson_that_was_left_half_edited_is_there_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await talk(stage, "hello")
        await stage.say("/lessons")
        await stage.sees("lessons \u00b7 ")
        await stage.press("e")
        await stage.sees(EDITOR)
        await stage.write(" and 7 more")
        await stage.press("escape")
        await stage.sees("not saved; e opens it again as you left it")
        before = fields(stage)
        assert before == []
        await stage.press("escape")
        await stage.sees("Say something")
        await stage.say("/lessons")
        await stage.sees("lessons \u00b7 ")
        await stage.press("e")
        await stage.sees("two answers and 7 more")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201ctwo answers and 7 more\u201d")
        await stage.press("end", "e")  # the lesson that this one replaces
        await stage.sees(EDITOR)
        assert "7 more" not in fields(stage)[0]
        await stage.press("escape")
        await closed(stage)
        assert "not saved" not in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_entries_that_were_left_half_typed_are_there_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await type_half_an_entry(stage)
        await stage.press("escape")
        await stage.sees("not saved; a opens it again as you left it")
        await stage.press("e")
        await stage.sees("Line 1 of your book")
        assert fields(stage) == ["My dog?", "Rufus."]
        await stage.write(" Or Rex.")
        await stage.press("escape")
        await stage.sees("not saved; e opens it again as you left it")
        await stage.press("escape")
        await stage.sees("Say something")
        await stage.say("/book rufus")
        await stage.sees("My dog?")
        await stage.press("a")
        await stage.until(lambda: fields(stage) == ["Where do I live?", "In K"])
        await stage.write("iel.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cIn Kiel.\u201d")
        await stage.press("a")
        await stage.until(lambda: fields(stage) == ["", ""])
        await stage.press("escape")
        await closed(stage)
        await stage.press("e")
        await stage.until(lambda: fields(stage) == ["My dog?", "Rufus. Or Rex."])

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_could_not_be_saved_is_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise VidyaError("the disk is full", "make room")

    async def scenario(stage: Stage) -> None:
        await stage.say("/book")
        await stage.sees("entries")
        await stage.press("a")
        await stage.sees("You say")
        await stage.write("what is <|user|>")
        await stage.press("tab")
        await stage.write("a marker")
        await stage.press("ctrl+s")
        await stage.sees("the text contains the marker")
        await stage.press("a")
        await stage.until(lambda: fields(stage) == ["what is <|user|>", "a marker"])
        await stage.press("escape", "escape")
        await stage.sees("Say something")
        await stage.say("hello")
        await stage.sees("5 five answers")
        await stage.press("f2")
        await stage.sees(EDITOR)
        await stage.press("end")
        await stage.write(" indeed")
        monkeypatch.setattr(stage.session, "correct", full)
        await stage.press("ctrl+s")
        await stage.sees("the disk is full")
        monkeypatch.undo()
        await stage.press("f2")
        await stage.sees("one answer indeed")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cone answer indeed\u201d")

    play(scenario, tmp_path)
